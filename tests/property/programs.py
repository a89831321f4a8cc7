"""Random little trainers as pure values: what every event was computed from is known exactly.

Values are integers computed by hashing what they depend on, so any difference propagates
wherever it really flows, and an origin is by definition an event that differs although all
its dependencies are equal. The engine sees only the rows.
"""

from dataclasses import dataclass, field

from bisect_debugger.causality.dataflow import Dataflow, Edge
from bisect_debugger.causality.walk import Program as Recorded
from bisect_debugger.causality.walk import Walk, WalkResult
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins.model import Row, Seen, Status

LAYOUT = Layout("float32", (7, 3))


@dataclass(frozen=True)
class Program:
    """A model: module i reads the outputs ``reads[i]`` (smaller numbers; none: the batch).

    Attributes:
        reads: what each module reads in step 0, and later unless ``later`` says otherwise.
        losses: modules whose outputs enter the loss.
        steps: how many steps there are.
        later: what each module reads from step 1 on.
        unseen: (reader, read) of what enters without a gradient, so that no edge tells it.
        unseen_losses: modules whose outputs enter the loss in this way.
        stale: the edges of step 0 are the only ones that were recorded.
        temperature: a parameter of no module, whose loss is handed the outputs detached.
    """

    reads: tuple[tuple[int, ...], ...]
    losses: tuple[int, ...]
    steps: int
    later: tuple[tuple[int, ...], ...] = ()
    unseen: frozenset[tuple[int, int]] = frozenset()
    unseen_losses: tuple[int, ...] = ()
    stale: bool = False
    temperature: bool = False

    def reads_in(self, step: int) -> tuple[tuple[int, ...], ...]:
        """What each module reads in a step, as far as gradients flow."""
        return self.later if step and self.later else self.reads


@dataclass(frozen=True)
class Fault:
    """Run b computes another value at this event, from equal dependencies."""

    step: int
    group: Group
    name: str


@dataclass
class Event:
    """One event as it was computed: value, and the events it depends on."""

    group: Group
    name: str
    component: str
    role: str
    subject: str
    value: int
    depends: list[int]
    step: int


@dataclass
class Execution:
    """One run of a program."""

    faults: frozenset[Fault]
    events: list[Event] = field(default_factory=list)
    latest: dict[tuple[Group, str], int] = field(default_factory=dict)

    def emit(
        self,
        step: int,
        group: Group,
        name: str,
        component: str,
        role: str,
        depends: list[tuple[Group, str]],
        subject: str = "",
    ) -> None:
        indices = [self.latest[key] for key in depends if key in self.latest]
        faulty = Fault(step, group, name) in self.faults
        seed = (group.label, name, faulty, tuple(self.events[index].value for index in indices))
        if not depends:
            # A source gives the same in both runs: it depends on the step and nothing else.
            seed = (group.label, name, faulty, (step,))
        value = hash(seed) & (2**63 - 1)
        self.events.append(Event(group, name, component, role, subject, value, indices, step))
        self.latest[(group, name)] = len(self.events) - 1


def execute(program: Program, faults: frozenset[Fault]) -> list[Event]:
    """Run the program: init, then forward, loss, backward, optimizer, per step."""
    run = Execution(faults)
    count = len(program.reads)
    for i in range(count):
        run.emit(-1, Group.PARAM, f"net.m{i}.w", f"net.m{i}", "w", [])
    if program.temperature:
        run.emit(-1, Group.PARAM, "temperature.w", "temperature", "w", [])
    for step in range(program.steps):
        run.emit(step, Group.DATA, "data.net.in[0]", "data", "in[0]", [])
        for i, reads in enumerate(program.reads_in(step)):
            sources = [(Group.FORWARD, f"net.m{j}.out") for j in reads]
            inputs = sources or [(Group.DATA, "data.net.in[0]")]
            inputs += [(Group.FORWARD, f"net.m{j}.out") for r, j in program.unseen if r == i]
            run.emit(step, Group.FORWARD, f"net.m{i}.in[0]", f"net.m{i}", "in[0]", inputs)
            run.emit(
                step,
                Group.FORWARD,
                f"net.m{i}.out",
                f"net.m{i}",
                "out",
                [(Group.FORWARD, f"net.m{i}.in[0]"), (Group.PARAM, f"net.m{i}.w")],
            )
        entering = (*program.losses, *program.unseen_losses)
        outs = [(Group.FORWARD, f"net.m{i}.out") for i in entering]
        run.emit(step, Group.LOSS, "loss", "loss", "loss", outs)
        for i in reversed(range(count)):
            _backward(run, program, step, i)
        if program.temperature:
            name = "temperature.w"
            run.emit(
                step, Group.GRAD_SCRATCH, f"{name}.grad_scratch", "temperature", "w", outs, name
            )
            _update(run, step, "temperature")
        for i in range(count):
            _update(run, step, f"net.m{i}")
    return run.events


def _backward(run: Execution, program: Program, step: int, i: int) -> None:
    consumers = [j for j, reads in enumerate(program.reads_in(step)) if i in reads]
    depends: list[tuple[Group, str]] = []
    if i in program.losses:
        # A sum of losses: the gradient depends on this output and not on the others.
        depends.append((Group.FORWARD, f"net.m{i}.out"))
    for j in consumers:
        if (Group.GRAD_OUT, f"net.m{j}.out.grad") in run.latest:
            depends += [(Group.GRAD_OUT, f"net.m{j}.out.grad"), (Group.PARAM, f"net.m{j}.w")]
    if not depends:
        return
    name = f"net.m{i}"
    run.emit(step, Group.GRAD_OUT, f"{name}.out.grad", name, "out", depends, subject=f"{name}.out")
    run.emit(
        step,
        Group.GRAD_SCRATCH,
        f"{name}.w.grad_scratch",
        name,
        "w",
        [(Group.GRAD_OUT, f"{name}.out.grad"), (Group.FORWARD, f"{name}.in[0]")],
        subject=f"{name}.w",
    )


def _update(run: Execution, step: int, name: str) -> None:
    if (Group.GRAD_SCRATCH, f"{name}.w.grad_scratch") not in run.latest:
        return
    weight = f"{name}.w"
    run.emit(
        step,
        Group.GRAD,
        f"{weight}.grad",
        name,
        "w",
        [(Group.GRAD_SCRATCH, f"{weight}.grad_scratch")],
        subject=weight,
    )
    moment = f"optimizer.exp_avg[{weight}]"
    run.emit(
        step,
        Group.OPTIM,
        moment,
        "optimizer",
        "exp_avg",
        [(Group.GRAD, f"{weight}.grad"), (Group.OPTIM, moment)],
        subject=weight,
    )
    run.emit(
        step,
        Group.PARAM,
        weight,
        name,
        "w",
        [(Group.OPTIM, moment), (Group.PARAM, weight)],
    )


def true_origins(a: list[Event], b: list[Event]) -> list[tuple[int, Group, str]]:
    """By definition: events that differ although everything they depend on is equal."""
    return [
        (left.step, left.group, left.name)
        for left, right in zip(a, b, strict=True)
        if left.value != right.value
        and all(a[index].value == b[index].value for index in left.depends)
    ]


def rows_by_step(a: list[Event], b: list[Event]) -> list[list[Row]]:
    """What the engine is given."""
    steps: dict[int, list[Row]] = {}
    for index, (left, right) in enumerate(zip(a, b, strict=True)):
        flags = EventFlag.INIT if left.step == -1 else EventFlag.NONE
        equal = left.value == right.value
        steps.setdefault(left.step, []).append(
            Row(
                step=left.step,
                group=left.group,
                component=left.component,
                role=left.role,
                subject=left.subject,
                name=left.name,
                occurrence=0,
                location="",
                a=Seen(index, (left.value, 0), LAYOUT, flags, 0),
                b=Seen(index, (right.value, 0), LAYOUT, flags, 0),
                status=Status.EQUAL if equal else Status.DIFFERS,
            )
        )
    return [steps[step] for step in sorted(steps)]


def recorded_edges(program: Program) -> list[Edge]:
    """What the recorder writes: the producers of each input where they change, and the loss's."""
    edges = [Edge(0, "loss", 0, f"net.m{j}.out", 0, True) for j in program.losses]
    for step in (0,) if program.stale else (0, 1):
        for i, reads in enumerate(program.reads_in(step)):
            place = f"net.m{i}.in[0]"
            edges += [Edge(step, place, 0, f"net.m{j}.out", 0, True) for j in reads]
            if not reads:
                edges.append(Edge(step, place, 0, place, 0, False))
    return edges


def walk_program(
    program: Program, faults: frozenset[Fault]
) -> tuple[WalkResult, list[Event], list[Event]]:
    """Run twins of the program, b with faults, and let the engine walk their rows."""
    a, b = execute(program, frozenset()), execute(program, faults)
    component_of = {event.name: event.component for event in a}
    trained = frozenset(event.subject for event in a if event.group is Group.GRAD)
    walk = Walk(Recorded(Dataflow(recorded_edges(program)), component_of, trained=trained))
    differing = [rows for rows in rows_by_step(a, b) if any(row.status.diverges for row in rows)]
    return walk.run(differing, limit=1000, quiet_limit=1000), a, b
