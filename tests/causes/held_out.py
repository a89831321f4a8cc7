"""Faults that the engine was not built with: written after it, measured before anything was mended.

Their shapes are others than those in `cases`; the kinds of fault are the same.
"""

from bisect_debugger.causality.causes import Cause
from tests.causes.case import Case, Clean

HELD_OUT: tuple[Case | Clean, ...] = (
    Case("held_speaker_ids", "CNN", ("data", "net"), (Cause.DATA_ORDER,), ("hashseed",)),
    Case(
        "held_mixup",
        "MLP",
        ("mixup",),
        (Cause.RNG_STREAM,),
        ("entropy",),
        why="a bit generator without a seed, kept by the module that draws",
    ),
    Case(
        "held_negatives",
        "MLP",
        ("queue",),
        (Cause.UNINITIALISED_MEMORY,),
        ("fill-memory",),
        runs=3,
        why="a module that is never called holds what torch.empty left",
    ),
    Case(
        "held_timeout_batches",
        "autoencoder",
        ("data", "coder"),
        (Cause.PREFETCH_INTERLEAVING, Cause.ASYNC_UPDATE, Cause.DATA_ORDER),
        runs=3,
        why="whether a feeder is in time decides which batch is used",
    ),
    Case(
        "held_swa_thread",
        "MLP",
        ("model", "model.*"),
        (Cause.ASYNC_UPDATE,),
        ("switch",),
        runs=3,
    ),
    Case(
        "held_curiosity",
        "actor-critic",
        ("env", "rng.default_rng[{np.random.default_rng()}]"),
        (Cause.SIMULATOR, Cause.SEED_NOT_APPLIED, Cause.RNG_STREAM),
        ("entropy",),
        why="the environment ignores the seed that it was given",
    ),
    Case(
        "held_clip_sum",
        "MLP",
        ("optimizer", "model", "model.*"),
        (Cause.REDUCTION_ORDER,),
        ("turns",),
        runs=3,
        why="gradients are scaled by a sum in any order",
    ),
    Case(
        "held_tree_lstm",
        "GRU",
        ("net", "net.*"),
        (Cause.CONTROL_FLOW, Cause.DATA_ORDER),
        ("hashseed",),
        why="a module is called in the order of a set",
    ),
    Case("held_patience", "MLP", ("optimizer",), (Cause.WALL_CLOCK,), ("clock",), runs=3),
    Case(
        "held_adapter",
        "transformer",
        ("reader.first", "reader.second", "reader"),
        (Cause.UNSEEDED_INIT,),
        ("entropy",),
        why="random.Random() without a seed fills a parameter",
    ),
    Case("held_scan", "GRU", ("net",), (Cause.FORWARD_KERNEL,), ("turns",), runs=3),
    Case(
        "held_checkpoint_choice",
        "MLP",
        ("model", "model.*"),
        (Cause.RESUME_STATE,),
        ("turns",),
        runs=3,
        why="the newest checkpoint is another one",
    ),
    Case(
        "held_worker_noise",
        "CNN",
        ("loader",),
        (Cause.RNG_STREAM,),
        why="workers are seeded with their process ids, which no knob fixes",
    ),
    Case(
        "held_gather_losses",
        "MLP",
        ("loss", "net", "net.*"),
        (Cause.FORWARD_KERNEL, Cause.REDUCTION_ORDER),
        ("turns",),
        runs=3,
        why="a sum of losses in the order in which threads are done",
    ),
    Case(
        "held_feature_flags",
        "MLP",
        ("data", "model"),
        (Cause.DATA_ORDER,),
        ("hashseed",),
        why="columns of a table in the order of a set",
    ),
)
