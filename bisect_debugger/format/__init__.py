"""The run file: what stands where, shared by the recorder and every reader.

Nothing here opens a file. `schema` names the tables, `groups` the kinds of buffer,
`layouts` how a tensor's elements are stored, `digests` how content is hashed.
docs/format.md tells the same to somebody who has only h5py.
"""
