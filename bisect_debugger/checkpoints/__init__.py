"""Checkpoints compared by named tensor: .pt, .pth, .bin, .safetensors and .npz.

Nothing is imported here: telling runs from checkpoints (`kinds`) must not load the readers.
"""
