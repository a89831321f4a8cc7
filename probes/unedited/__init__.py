"""Recording a trainer without an edit: what the bootstrap calls when torch was imported.

start        light hooks that wait for the training to begin, and the session that owns them
recording    a recording that finds models and optimizers by itself
discovery    which modules there are, and what the program calls them
frames       local variables of running functions, read without touching them
limits       when to stop, and the live comparison with the first run
libraries    data loaders, environments, replay buffers, gradient scalers
witness      final parameters of a run, for `check-probe`
"""
