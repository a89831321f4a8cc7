"""What is known of an origin beyond its cause: remedies of leaves that tell more."""

from bisect_debugger.causality.causes import Remedy

VARIANTS: dict[str, Remedy] = {
    "ended-otherwise": Remedy(
        "The training ended at another step, although everything up to there is equal: what ends "
        "it is no part of the training.",
        (
            "End after a number of steps, not after a time: a time budget, a deadline or a signal "
            "of a scheduler ends each run somewhere else.",
            "Where a file, a queue or a thread says when to stop, read it at fixed steps.",
        ),
        "Give the loop a fixed number of steps: the runs must be equal to their end.",
    ),
    "already-different": Remedy(
        "The runs were already different when the window opens, so where it began is not in the "
        "recording.",
        (
            "Record both runs from step 0, or from any step before the first difference: a "
            "recording at level coarse finds that step cheaply.",
        ),
        "Record from step 0: the first difference must stand before the window.",
    ),
    "seeded-otherwise": Remedy(
        "The generator was seeded with another number in each run.",
        (
            "Take its seed from the run's seed and a counter or an index.",
            "Not from the clock, a process or thread id, id(), a counter that threads share, or "
            "hash() of a string: each is another number in every process.",
        ),
        "Seed it with a constant and record again: its state must be equal.",
    ),
    "drawn-more": Remedy(
        "One run drew more from an equal stream than the other, for a batch of another size: what "
        "decides the size is no part of the training.",
        (
            "Look for what sets the batch size or the length: a measured speed or time, free "
            "memory, the length of a queue, an answer of another process.",
            "Decide it once, or by the step count.",
        ),
        "Log the size at each step in both runs; fix it: the stream must be equal.",
    ),
    "drawn-otherwise": Remedy(
        "The stream was equal until now, and was then drawn from more often in one run, or seeded "
        "anew: something that is no part of the training decides it.",
        (
            "Look for draws that one run alone makes there: an evaluation, a retry or a loop that "
            "begins or ends by time, by free memory or by an answer of another process.",
            "Decide it by the step count, or give that code a generator of its own.",
            "Where it is seeded anew during training, seed it from the run's seed and the step.",
        ),
        "Log how often the stream is drawn from in each step of both runs.",
    ),
    "private-generator": Remedy(
        "The component gave something else from equal inputs, parameters and recorded random "
        "streams, by as much as another draw: it draws from a generator that is not recorded.",
        (
            "Look for a generator of its own in this component: numpy.random.default_rng() or "
            "torch.Generator() without a seed, Generator.seed(), random.SystemRandom.",
            "Seed it from the run's seed, and register it with Recording.register_generator.",
            "Is there none, run the component's forward twice from the same inputs: a kernel that "
            "reads memory which another thread writes can be as far off.",
        ),
        "Register or seed the generator and record again: the origin must move to the stream or "
        "vanish.",
    ),
    "other-number": Remedy(
        "A number of the program's own enters the computation and differs, although everything "
        "that was recorded before is equal: it may follow the clock.",
        (
            "Look at the line where the operator is given it: a weight, a rate or a temperature "
            "that follows time.time() or perf_counter(); let it follow the step.",
            "A draw of a generator that is not recorded (random.SystemRandom), or a count that "
            "another thread keeps, can be such a number as well.",
        ),
        "Record the number (Recording.record) where it is made; replace the clock by the step "
        "number.",
    ),
    "other-sizes": Remedy(
        "An operator is called with another size, index or switch in each run, although "
        "everything that was recorded before is equal: the program took another way.",
        (
            "Look at the line where the operator is given it, and at what decides it: the length "
            "or order of a set, the time, the number of cores, a file.",
        ),
        "Record what decides it (Recording.record) in both runs.",
    ),
    "batch-decided": Remedy(
        "The first batches are equal and later ones are not, although no generator was seen to be "
        "drawn from and no thread to stand beside: something else decides which batch comes.",
        (
            "Look for batches that are left out or taken by the time that they took, by what a "
            "file or a queue holds at that moment, or by the answer of another process.",
            "A generator that is not recorded and that the first batches did not need can be it as "
            "well.",
        ),
        "Log which batch is taken at each step, and what decided it, in both runs.",
    ),
    "written-outside": Remedy(
        "The parameters that it was computed with are written while no optimizer step is at work, "
        "and threads stand beside the training: one of them may write in the middle of a step.",
        (
            "Find the thread that writes the parameters: a clamp, an average, a synchronisation; "
            "let the training thread do it at a fixed place.",
            "Where nothing writes them in the middle of a step, it is the computation itself that "
            "races: execute it alone.",
        ),
        "Stop the other writer: the difference must vanish.",
    ),
    "written-between": Remedy(
        "A parameter was written while no optimizer was at work, and not alike in both runs.",
        (
            "Find the line that writes it: load_state_dict, copy_, a mask, a clamp, noise, a "
            "moving average, running statistics.",
            "Where another thread or process writes it, do so in the training thread at a fixed "
            "place, or hold a lock over read and update.",
            "Where the time, a file or a queue decides when it is written, or a draw what is "
            "written, decide it by the step count and draw from a seeded generator.",
        ),
        "Leave that write out in both runs: the difference must vanish.",
    ),
    "drawn-gradient": Remedy(
        "Something was added to the gradients, or they were multiplied by something, that was "
        "drawn from a generator which does not follow the seed.",
        (
            "Look for the noise or the mask that is put on .grad after backward, at the line that "
            "is named: seed its generator from the run's seed.",
            "random.SystemRandom, secrets and os.urandom take no seed: use a generator that does.",
        ),
        "Leave the noise out in both runs: the gradients must be equal.",
    ),
    "other-turns": Remedy(
        "The program makes the same calls in both runs, in another order.",
        (
            "Look at what sets the order of the calls at the line that is named: a loop over a "
            "set, or over what was made from one, goes by hash; go over sorted() of it.",
            "Directory listings, results that are taken as they get ready (as_completed, "
            "imap_unordered) and threads give another order as well: sort them, or take them in "
            "the order in which they were handed out.",
        ),
        "Run both with PYTHONHASHSEED=0: are they equal then, a set's order decided.",
    ),
    "gathered": Remedy(
        "The same results are put together in another order in each run, and a sum of "
        "floating-point numbers depends on its order.",
        (
            "At the line that is named, take results in the order in which they were handed out, "
            "and not as they get ready: as_completed, imap_unordered, a queue and a list that "
            "threads append to have no order of their own.",
            "Where it is a loop over a set, go over sorted() of it.",
        ),
        "Handle the jobs one after the other, or in their order: the difference must vanish.",
    ),
    "unwritten-state": Remedy(
        "State of the optimizer is read before anybody wrote to it: it holds what stood in that "
        "memory before.",
        (
            "At the line that is named, make it with zeros_like or zeros instead of empty_like, "
            "new_empty or empty.",
            "Where something that is no operator of torch fills it (numpy, a kernel of one's own), "
            "check that it fills all of it, and alike in both runs.",
        ),
        "Fill it with zeros when it is made: if the difference is gone, this was it.",
    ),
    "gathered-batch": Remedy(
        "The batch holds the same samples in another order: results of threads are put together as "
        "they get ready.",
        (
            "At the line that is named, take results in the order in which they were handed out, "
            "and not as they get ready: as_completed, imap_unordered, one queue that several "
            "threads fill and a list that they append to have no order of their own.",
            "Where threads draw from one generator in turns, give each of them its own.",
            "Where it is a loop over a set or a directory listing, go over sorted() of it.",
        ),
        "Handle the jobs one after the other, or in their order: the batch must be equal.",
    ),
    "raced": Remedy(
        "Threads of the program's own were at work, and what differs is no result of torch's "
        "operators alone: it comes from state that several threads read and change.",
        (
            "Look at what is called at the line that is named for state that is not the thread's "
            "own: an attribute, a counter, a generator or a buffer that others write as well.",
            "Give each thread a state of its own, made from the run's seed and the number of its "
            "job; a lock alone keeps the order a matter of chance.",
        ),
        "Handle the jobs one after the other: the difference must vanish.",
    ),
    "renumbered": Remedy(
        "The batch holds the same samples in the same order, and other numbers stand for the same "
        "things: what numbers them goes by another order in each run.",
        (
            "Number classes, words or files by sorted(...) of them: a set goes by hash, and a "
            "directory listing by chance.",
            "Where the numbers lie in a file, let both runs read the same one.",
        ),
        "Run both with PYTHONHASHSEED=0: are they equal then, a set's order decided.",
    ),
    "scaled-gradient": Remedy(
        "All gradients differ by one common factor from equal contributions: they were scaled "
        "otherwise.",
        (
            "Compare what scales gradients after backward in both runs: the threshold of "
            "clip_grad_norm_, the GradScaler's scale, a division by the number of micro-batches or "
            "processes.",
            "Read such numbers from one place for both runs.",
        ),
        "Record the scale (Recording.record) right before the optimizer step: it must differ.",
    ),
    "changed-gradient": Remedy(
        "The gradient was changed between backward and the optimizer step, by more than the order "
        "of a sum can.",
        (
            "Look for code that writes .grad after backward: clipping by value, masking, noise, a "
            "hook, another thread.",
            "All-reduce: look for a process or bucket that takes part in one run only.",
        ),
        "Sum the recorded contributions: what was added to them is what the code between wrote.",
    ),
}
"""Id of the tree's leaf -> what is known where more is known than the cause."""
