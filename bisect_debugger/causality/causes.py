"""The causes: what kind of fault an origin is, what to change, and what would prove it.

Advice is in PyTorch terms and most likely first. It is data, so that the note, the UI and a
reader of the source see the same words.
"""

from dataclasses import dataclass, replace
from enum import StrEnum


class Cause(StrEnum):
    """The kind of fault that an origin is."""

    SEED_NOT_APPLIED = "seed-not-applied"
    UNSEEDED_INIT = "unseeded-init"
    UNINITIALISED_MEMORY = "uninitialised-memory"
    RNG_STREAM = "rng-stream"
    SAMPLER_ORDER = "sampler-order"
    DATA_ORDER = "data-order"
    PREFETCH_INTERLEAVING = "prefetch-interleaving"
    SIMULATOR = "simulator"
    FORWARD_KERNEL = "forward-kernel"
    BACKWARD_KERNEL = "backward-kernel"
    REDUCTION_ORDER = "reduction-order"
    OPTIMIZER_ORDER = "optimizer-order"
    OPTIMIZER_STATE = "optimizer-state"
    ASYNC_UPDATE = "async-update"
    RESUME_STATE = "resume-state"
    ENVIRONMENT = "environment"
    WALL_CLOCK = "wall-clock"
    CONTROL_FLOW = "control-flow"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What is known about a cause.

    Attributes:
        meaning: the cause in one sentence.
        advice: what to change, most likely first.
        confirm: what would confirm or refute it.
    """

    meaning: str
    advice: tuple[str, ...]
    confirm: str

    def for_runs(self, *, with_values: bool, on_cpu: bool) -> "Remedy":
        """The same without advice that is of no use for some runs.

        Args:
            with_values: they were recorded at level full.
            on_cpu: they ran on the CPU alone.
        """
        useless = (_RECORD_VALUES,) * with_values + _FOR_CUDA * on_cpu
        kept = tuple(words for words in self.advice if words not in useless)
        return replace(self, advice=kept)


_RECORD_VALUES = "Record at level full around the onset to see the values."
_FOR_CUDA = (
    "Matrix multiplies on CUDA: torch.backends.cuda.matmul.allow_tf32 = False and "
    "CUBLAS_WORKSPACE_CONFIG=:4096:8.",
    "Convolutions on CUDA: torch.backends.cudnn.deterministic = True, benchmark = False.",
)


REMEDIES: dict[Cause, Remedy] = {
    Cause.SEED_NOT_APPLIED: Remedy(
        "The generator was never seeded, or seeded from something that changes.",
        (
            "Seed every stream before the first draw: random.seed(s), numpy.random.seed(s), "
            "torch.manual_seed(s).",
            "Look at the seeding calls in the note: a stream without one runs on entropy.",
            "Seed in the process that draws: DataLoader workers need worker_init_fn and a "
            "generator.",
        ),
        "Seed this stream at the top of the trainer and record again: its state at init must be "
        "equal.",
    ),
    Cause.UNSEEDED_INIT: Remedy(
        "This component was initialised from a generator that the seed does not reach, while "
        "others of the model were not.",
        (
            "Initialise it from the stream that the other components use, or pass it a "
            "torch.Generator seeded from the run's seed.",
            "Look for numpy.random.default_rng(), torch.Generator() or torch.seed() without an "
            "argument where this component is built, and for a set that decides in which order "
            "modules are built.",
        ),
        "Build the component after torch.manual_seed(s) and compare its values at init.",
    ),
    Cause.UNINITIALISED_MEMORY: Remedy(
        "The values look like memory that nobody wrote.",
        (
            "Replace torch.empty, empty_like, new_empty and Tensor(n) by zeros or an explicit "
            "init.",
            "Check that every element of the buffer is written before it is read (padding, the "
            "last block, masked rows).",
            "torch.utils.deterministic.fill_uninitialized_memory with "
            "torch.use_deterministic_algorithms(True) fills such memory with NaN.",
        ),
        "Fill the buffer with zeros when it is created: if the difference is gone, this was it.",
    ),
    Cause.RNG_STREAM: Remedy(
        "Values were drawn from a generator that does not follow the seed, or that was drawn "
        "from a different number of times.",
        (
            "Seed the generator that draws here from the run's seed "
            "(numpy.random.default_rng(seed), torch.Generator().manual_seed(seed)): one that is "
            "made without a number, as by RandomState() or random.Random(), follows no seed.",
            "Do not iterate over a set of strings (a vocabulary, a list of files): its order "
            "follows PYTHONHASHSEED, which is another one in every process; sort it.",
            "Do not seed from the clock, the process id or a thread id; use a counter.",
            "Register the generator with Recording.register_generator to see its state here.",
        ),
        "Register or seed the generator and record again: the origin must move to the stream or "
        "vanish.",
    ),
    Cause.SAMPLER_ORDER: Remedy(
        "The sampler returned the same entries in another order.",
        (
            "Iterate over sorted keys instead of a set or a dict filled by threads.",
            "Break ties in priorities by index, so that equal priorities have one order.",
        ),
        "Sort the indices in both runs: if they are equal then, only the order is at fault.",
    ),
    Cause.DATA_ORDER: Remedy(
        "The batch holds the same samples in another order.",
        (
            "Sort file lists: os.listdir, os.scandir and glob give no order.",
            "Pass DataLoader(generator=torch.Generator().manual_seed(seed)) and a worker_init_fn.",
            "Do not iterate over a set of strings: its order follows PYTHONHASHSEED.",
        ),
        "Run both twins with PYTHONHASHSEED=0 and sorted listings: the batch must be equal.",
    ),
    Cause.PREFETCH_INTERLEAVING: Remedy(
        "Threads draw from one source, or hand over what they made, in an order that the "
        "scheduler decides.",
        (
            "Take the results of threads in the order of their jobs, not as they get ready; let "
            "one thread draw, or give each a generator of its own.",
            "Key the randomness by step: Generator seeded with (seed, step) instead of a stream.",
        ),
        "Switch prefetching off (num_workers=0, no background thread, pools of one worker): the "
        "batches must be equal.",
    ),
    Cause.SIMULATOR: Remedy(
        "The simulator returned something else for the same actions.",
        (
            "Seed each environment: env.reset(seed=...), action_space.seed(...).",
            "Look for clocks, threads and set iteration inside the simulator.",
        ),
        "Step two fresh environments with one recorded action sequence and compare.",
    ),
    Cause.FORWARD_KERNEL: Remedy(
        "The component computed something else from equal inputs, parameters and random state.",
        (
            "Reproduce it in isolation (twin --repro DIR): same inputs and weights, many times; if "
            "it does not come back there, look at what the component shares with other threads.",
            "torch.use_deterministic_algorithms(True) names operators without a fixed order "
            "(index_add, scatter_add, cumsum on CUDA, interpolate).",
            "Recurrent or scan kernels: look for threads or blocks that read state another one "
            "writes, for atomics and for a last writer that the schedule picks; a chunk of 1 is "
            "the ground truth.",
            *_FOR_CUDA,
            "CPU: OMP_NUM_THREADS=1 or torch.set_num_threads(1) fixes the split of a sum.",
        ),
        "Run the component's forward K times from the saved inputs: more than one result "
        "confirms it.",
    ),
    Cause.BACKWARD_KERNEL: Remedy(
        "The backward pass computed another gradient from equal values and equal upstream "
        "gradients.",
        (
            "torch.use_deterministic_algorithms(True) names operators whose backward has no fixed "
            "order (index, gather, embedding, max_pool, interpolate).",
            "Own autograd.Function or kernel: replace atomics and first-come accumulation by a "
            "two-pass sum in fixed order.",
            _FOR_CUDA[1],
        ),
        "Run the component's backward K times from the saved upstream gradient: more than one "
        "result confirms it.",
    ),
    Cause.REDUCTION_ORDER: Remedy(
        "Equal contributions were summed to another gradient.",
        (
            "Accumulate in a fixed order: not as futures complete, not from several threads.",
            "All-reduce: fix the algorithm (NCCL_ALGO=Ring or Tree) and the bucket order.",
            "Check code that changes gradients between backward and the optimizer step.",
        ),
        "Sum the recorded contributions in order: the result must be one of both gradients.",
    ),
    Cause.OPTIMIZER_ORDER: Remedy(
        "The optimizer visits its parameters in another order.",
        (
            "Build the optimizer from a list in model order; never from a set or from dict keys "
            "that were inserted by threads.",
            "Sort by name: [p for _, p in sorted(model.named_parameters())].",
        ),
        "Print the parameter names in optimizer order in both runs.",
    ),
    Cause.OPTIMIZER_STATE: Remedy(
        "Optimizer state differs although gradients, earlier state and hyper-parameters are equal.",
        (
            "Look for code that writes moments: reset, pruning, weight averaging, a second "
            "optimizer on the same parameters.",
            "foreach and fused optimizers may round otherwise than the plain loop: use one of them "
            "in both runs.",
        ),
        "Run with foreach=False, fused=False: if it is equal then, the kernel is at fault.",
    ),
    Cause.ASYNC_UPDATE: Remedy(
        "The value was changed by something that is not the training step: another thread, an "
        "evaluation, a moving average.",
        (
            "Find who writes it: EMA or target-network threads, priority updates, running "
            "statistics updated by an evaluation in train mode.",
            "Move the update into the training thread at a fixed place, or hold a lock over read "
            "and update.",
            "Replay: update priorities before the next sample is drawn, always.",
        ),
        "Stop the other writer: the difference must vanish.",
    ),
    Cause.RESUME_STATE: Remedy(
        "The difference is there when training (re)starts: a checkpoint did not bring everything "
        "back.",
        (
            "Save and load optimizer state, scheduler, GradScaler, every RNG state and the data "
            "cursor together with the weights.",
            "Check that both runs start from the same checkpoint.",
        ),
        "Compare the two checkpoints by named tensor: bisect-debugger compare A.pt B.pt.",
    ),
    Cause.ENVIRONMENT: Remedy(
        "The runs did not have the same conditions, and kernels add up in another order under "
        "them.",
        (
            "Fix the number of threads: OMP_NUM_THREADS and torch.set_num_threads.",
            "Run both on the same versions, device and flags; the note lists what differs.",
        ),
        "Record both again under one environment.",
    ),
    Cause.WALL_CLOCK: Remedy(
        "A hyper-parameter differs although the losses before are equal: it may follow the clock.",
        (
            "Make schedules follow the step counter, not time.time().",
            "Early stopping and time budgets end runs at different steps: use step budgets.",
        ),
        "Log the schedule's inputs; replace the clock by the step number.",
    ),
    Cause.CONTROL_FLOW: Remedy(
        "The two runs did not do the same things: an event or a shape exists in one of them only.",
        (
            "Look at the code around the first such event: a branch on time, on a random draw, on "
            "a set's order or on the environment.",
            "Compare the arguments and environment of both runs.",
        ),
        "Log the condition of the branch in both runs.",
    ),
    Cause.UNEXPLAINED: Remedy(
        "The recording does not tell what this was computed from.",
        (
            "Record what enters here: targets, sample weights, masks "
            "(Recording.record(name, value)).",
            _RECORD_VALUES,
        ),
        "Record the missing inputs: the origin must move to one of them, or stay with equal "
        "inputs.",
    ),
}
"""Cause -> what is known about it; complete, asserted by a test."""
