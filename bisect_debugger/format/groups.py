"""The groups: what sort of buffer an event belongs to, in causal order within a step."""

from enum import IntEnum


class Group(IntEnum):
    """What sort of buffer it is. The value is what the file stores; the order is causal."""

    RNG = 0
    SIMULATOR = 1
    REPLAY = 2
    DATA = 3
    PARAM = 4
    FORWARD = 5
    LOSS = 6
    GRAD_OUT = 7
    GRAD_SCRATCH = 8
    GRAD = 9
    OPTIM = 10
    USER = 11

    @property
    def label(self) -> str:
        """The group's name as it stands in files, commands and notes, e.g. ``grad_out``."""
        return self.name.lower()

    @property
    def letter(self) -> str:
        """The one-letter code that determinism reports use, or an empty string."""
        return _LETTERS.get(self, "")

    @property
    def meaning(self) -> str:
        """One line for a reader who meets the group for the first time."""
        return _MEANINGS[self]

    @classmethod
    def from_label(cls, label: str) -> "Group":
        """The group with this label.

        Raises:
            KeyError: no group is called so.
        """
        return cls[label.upper()]


_LETTERS = {
    Group.REPLAY: "G",
    Group.FORWARD: "H",
    Group.GRAD_SCRATCH: "I",
    Group.GRAD_OUT: "J",
    Group.PARAM: "K",
}

_MEANINGS = {
    Group.RNG: "state of every random generator at the boundaries of a step",
    Group.SIMULATOR: "environment resets, observations, rewards and dones",
    Group.REPLAY: "what a replay sampler returned: indices, weights, priorities, batch",
    Group.DATA: "the batch as it enters the root module or is handed over",
    Group.PARAM: "parameters and module buffers at init and after each step",
    Group.FORWARD: "module inputs and outputs in execution order",
    Group.LOSS: "the tensors that backward() is called on",
    Group.GRAD_OUT: "gradient with respect to module outputs",
    Group.GRAD_SCRATCH: "each backward pass's contribution to a parameter, before accumulation",
    Group.GRAD: "the gradient as the optimizer sees it",
    Group.OPTIM: "optimizer state after the step and the hyper-parameters in force",
    Group.USER: "recorded by hand",
}

GROUP_COUNT = len(Group)
