"""The cases: what each trainer's fault is, written from the fault and not from any answer."""

from bisect_debugger.causality.causes import Cause
from tests.causes.case import Case, Clean

_CLOCK = ("clock",)
_TURNS = ("turns",)
_SEEDS = ("entropy", "seed-all")

CASES: tuple[Case, ...] = (
    # --- generators that nobody seeded
    Case("tabular_shuffle", "MLP", ("rng.numpy",), (Cause.SEED_NOT_APPLIED,), _SEEDS),
    Case("stripes_flip", "CNN", ("rng.python",), (Cause.SEED_NOT_APPLIED,), _SEEDS),
    Case(
        "curve_vae",
        "autoencoder",
        ("rng.torch_cpu",),
        (Cause.SEED_NOT_APPLIED,),
        _SEEDS,
        why="torch is only seeded where there is a GPU",
    ),
    # --- one component begins beside the seed
    Case(
        "parity_transformer",
        "transformer",
        ("rng.Generator.seed[{generator.seed()}]", "model.head"),
        (Cause.UNSEEDED_INIT, Cause.SEED_NOT_APPLIED),
        ("entropy",),
        why="where the generator is followed, it is the origin and the head its first victim",
    ),
    Case(
        "finetune_late_seed",
        "MLP",
        ("model.head",),
        (Cause.UNSEEDED_INIT,),
        _SEEDS,
        why="the head is drawn before torch.manual_seed, the rest after it",
    ),
    Case(
        "ensemble_fork",
        "GRU",
        ("model.heads", "model.heads.*"),
        (Cause.UNSEEDED_INIT,),
        ("entropy",),
        why="torch.seed() inside fork_rng: the global stream is as before",
    ),
    # --- memory that nobody wrote
    Case(
        "reward_bias_empty",
        "GRU",
        ("model",),
        (Cause.UNINITIALISED_MEMORY,),
        ("fill-memory",),
        runs=3,
        why="model.offset is torch.empty",
    ),
    Case(
        "speech_padding",
        "CNN",
        ("data", "net"),
        (Cause.UNINITIALISED_MEMORY,),
        ("fill-memory",),
        runs=3,
        why="the tail of a padded batch is torch.empty",
    ),
    # --- draws that do not follow the seed
    Case(
        "loader_time_seed",
        "autoencoder",
        ("rng.Generator.manual_seed[{shuffling.manual_seed}]", "loader"),
        (Cause.SEED_NOT_APPLIED, Cause.RNG_STREAM),
        _CLOCK,
        why="a generator that is seeded from the time: not seeded, said in two ways",
    ),
    Case(
        "noisy_actor",
        "actor-critic",
        ("data", "critic", "loop.critic"),
        (Cause.RNG_STREAM,),
        _CLOCK,
        why="a RandomState of its own, seeded from the time",
    ),
    Case(
        "masked_lm_bytes",
        "transformer",
        ("data", "model"),
        (Cause.RNG_STREAM,),
        ("entropy",),
        why="SystemRandom cannot be seeded",
    ),
    Case(
        "eval_on_a_timer",
        "autoencoder",
        ("rng.torch_cpu",),
        (Cause.RNG_STREAM, Cause.WALL_CLOCK),
        _CLOCK,
        runs=3,
        why="the evaluation draws from the training's stream, and the clock says when",
    ),
    # --- the same samples in another order
    Case("word_lm_vocabulary", "GRU", ("data", "model"), (Cause.DATA_ORDER,), ("hashseed",)),
    Case("dedup_rows", "MLP", ("loader",), (Cause.DATA_ORDER,), ("hashseed",)),
    Case(
        "class_names",
        "CNN",
        ("loader",),
        (Cause.DATA_ORDER,),
        ("hashseed",),
        why="labels are numbered in the order of a set",
    ),
    Case("shard_listing", "MLP", ("data", "model"), (Cause.DATA_ORDER,), ("listing",), runs=3),
    Case(
        "renders_as_completed",
        "CNN",
        ("data", "net"),
        (Cause.DATA_ORDER,),
        _TURNS,
        runs=3,
        why="threads of a pool finish in any order, also where Python switches only at waits",
    ),
    # --- threads that draw from one stream
    Case(
        "prefetch_crops",
        "transformer",
        ("rng.numpy", "data", "model"),
        (Cause.PREFETCH_INTERLEAVING,),
        ("switch",),
    ),
    Case(
        "two_feeders",
        "MLP",
        ("rng.Random.seed[{rng = random.Random(31)}]", "data", "model"),
        (Cause.PREFETCH_INTERLEAVING,),
        ("switch",),
    ),
    # --- simulators
    Case("balance_reset", "DQN", ("env",), (Cause.SIMULATOR,), ("simulator-seed", "entropy")),
    Case("gusty_glider", "actor-critic", ("env",), (Cause.SIMULATOR,), _CLOCK),
    # --- kernels
    Case(
        "quantile_taus",
        "DQN",
        ("net.taus",),
        (Cause.FORWARD_KERNEL,),
        ("switch",),
        why="threads read a state that another one writes, inside one forward",
    ),
    Case("pooled_attention", "transformer", ("net.pool",), (Cause.FORWARD_KERNEL,), _TURNS, runs=3),
    Case("racing_linear", "MLP", ("model.2",), (Cause.BACKWARD_KERNEL,), _TURNS, runs=3),
    Case("scatter_embedding", "MLP", ("bag",), (Cause.BACKWARD_KERNEL,), _TURNS, runs=3),
    # --- sums of gradients
    Case(
        "microbatch_pool",
        "MLP",
        ("model", "model.*", "head"),
        (Cause.REDUCTION_ORDER,),
        _TURNS,
        runs=3,
    ),
    Case(
        "accumulate_threads",
        "accumulation",
        ("model", "model.*"),
        (Cause.REDUCTION_ORDER,),
        _TURNS,
        runs=3,
        why="threads add to one .grad under autocast",
    ),
    Case("arrival_reduce", "DDP", ("model", "model.*"), (Cause.REDUCTION_ORDER,), runs=3),
    # --- optimizers
    Case(
        "params_in_a_set",
        "GAN",
        ("g_optimizer",),
        (Cause.OPTIMIZER_ORDER,),
        ("addresses",),
        why="a tensor's hash is its address",
    ),
    Case("decay_groups", "transformer", ("optimizer",), (Cause.OPTIMIZER_ORDER,), ("hashseed",)),
    Case(
        "moment_rest",
        "CNN",
        ("model", "model.*", "optimizer"),
        (Cause.OPTIMIZER_STATE, Cause.WALL_CLOCK),
        _CLOCK,
        runs=3,
    ),
    Case(
        "shared_second_moment",
        "MLP",
        ("optimizer", "model", "model.*"),
        (Cause.OPTIMIZER_STATE,),
        runs=3,
    ),
    # --- samplers
    Case(
        "length_buckets",
        "GRU",
        ("loader",),
        (Cause.SAMPLER_ORDER, Cause.DATA_ORDER),
        ("hashseed",),
        why="a sampler that walks a set hands out the same batches in another order",
    ),
    Case(
        "priority_ties",
        "DQN",
        ("data", "q_network"),
        (Cause.SAMPLER_ORDER, Cause.DATA_ORDER),
        ("hashseed",),
        why="equal priorities are broken by the order of a set",
    ),
    # --- somebody else writes
    Case(
        "late_priorities",
        "DQN",
        ("data", "critic"),
        (Cause.ASYNC_UPDATE,),
        ("switch",),
        runs=3,
        why="whether a priority is set before the next sample is up to the scheduler",
    ),
    Case(
        "mean_teacher", "autoencoder", ("teacher", "teacher.*"), (Cause.ASYNC_UPDATE,), ("switch",)
    ),
    Case("live_evaluation", "CNN", ("net.norm",), (Cause.ASYNC_UPDATE,), ("switch",)),
    Case("critic_clamp", "GAN", ("critic", "critic.*"), (Cause.ASYNC_UPDATE,), ("switch",)),
    # --- checkpoints that do not bring everything back
    Case(
        "resume_unseeded",
        "MLP",
        ("rng.torch_cpu",),
        (Cause.RESUME_STATE, Cause.SEED_NOT_APPLIED),
        _SEEDS,
        why="the checkpoint has no generator state, and only a fresh start is seeded",
    ),
    Case(
        "resume_left_over",
        "autoencoder",
        ("model", "model.*", "optimizer"),
        (Cause.RESUME_STATE,),
        why="the second run finds the first one's checkpoint",
    ),
    Case(
        "resume_torn",
        "MLP",
        ("model", "model.*", "optimizer"),
        (Cause.RESUME_STATE,),
        ("switch",),
        runs=3,
        why="which snapshot is the last one is up to a thread",
    ),
    # --- conditions of the machine
    Case(
        "tuned_threads", "CNN", ("net", "net.*", "head"), (Cause.ENVIRONMENT,), ("threads",), runs=5
    ),
    Case(
        "polite_threads",
        "transformer",
        ("model", "model.*"),
        (Cause.ENVIRONMENT,),
        ("threads",),
        runs=8,
    ),
    # --- the clock
    Case("budget_schedule", "GRU", ("optimizer",), (Cause.WALL_CLOCK,), _CLOCK),
    Case(
        "seconds_to_train",
        "autoencoder",
        ("*",),
        (Cause.WALL_CLOCK, Cause.CONTROL_FLOW),
        _CLOCK,
        why="the runs are equal as far as both go",
    ),
    Case(
        "warming_penalty",
        "autoencoder",
        ("loss", "model", "model.*"),
        (Cause.WALL_CLOCK,),
        _CLOCK,
    ),
    # --- the runs do other things
    Case(
        "branch_names",
        "CNN",
        ("net", "net.*"),
        (Cause.CONTROL_FLOW,),
        ("hashseed",),
        why="modules are called in the order of a set, each with a draw",
    ),
    Case(
        "slow_batches",
        "MLP",
        ("data", "model"),
        (Cause.CONTROL_FLOW, Cause.WALL_CLOCK),
        _CLOCK,
        runs=3,
        why="a batch is dropped where its preparation took long",
    ),
    Case(
        "ponder_deadline",
        "GRU",
        ("net", "net.*"),
        (Cause.CONTROL_FLOW, Cause.WALL_CLOCK),
        _CLOCK,
        why="the clock says how often a module is called",
    ),
)

CLEAN: tuple[Clean, ...] = (
    Clean("clean_workers", "CNN", "worker processes that are seeded"),
    Clean("clean_per", "DQN", "a simulator, spaces and a replay that are seeded"),
    Clean("clean_prefetch", "transformer", "a thread that draws from generators of its own"),
    Clean("clean_gan", "GAN", "two optimizers, and an average that the training keeps"),
    Clean("clean_accumulate", "accumulation", "autocast, accumulation, clipping, a schedule"),
    Clean("clean_vae", "autoencoder", "a monitor that draws from the system's entropy"),
    Clean("clean_ddp", "DDP", "two processes that reduce in a fixed order"),
    Clean("clean_resume", "MLP", "a checkpoint that brings everything back"),
    Clean("clean_actor", "actor-critic", "two environments that are seeded"),
    Clean("clean_vocabulary", "GRU", "sets that nothing takes an order from"),
    Clean("clean_futures", "MLP", "as completed, and put in place; torch.empty, all written"),
    Clean("clean_shards", "MLP", "random names and a clock that decide nothing"),
    Clean("clean_evaluator", "CNN", "a thread beside the training with a model of its own"),
    Clean("clean_replicas", "MLP", "threads that copy the model for each of their jobs"),
    Clean("clean_kept_copies", "MLP", "threads that keep a copy of the model and load it anew"),
    Clean("clean_peers", "MLP", "several models that begin in threads, stepped by one"),
    Clean("clean_plateau", "MLP", "a closure, and an end that the loss decides"),
)
