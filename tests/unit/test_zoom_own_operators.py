"""The operators of a step are the program's; what the recorder calls itself is none of them."""

from pathlib import Path

import torch

import probes
from bisect_debugger.runs.operators import read_operators


class Turned(torch.nn.Module):
    """Returns what is not contiguous and needs a gradient: the recorder has to copy it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return torch.Tensor.t(self.inner(batch))


def test_what_the_recorder_calls_is_no_operator_of_the_program(tmp_path: Path) -> None:
    torch.manual_seed(3)
    net = Turned()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    recorder = probes.attach(net, optimizer, out=tmp_path / "a.h5", zoom=True)
    with torch.no_grad():
        wanted = net(torch.ones(3, 4))
    loss = (net(torch.ones(3, 4)) - wanted - 1).square().sum()
    loss.backward()
    optimizer.step()
    recorder.close()
    streams = read_operators(tmp_path / "a.h5")
    operators = [operator for stream in streams.values() for operator in stream.operators]
    # A backward detaches the gradients that it keeps.
    forward = {operator.name for operator in operators if not operator.node}
    assert "aten::t" in forward
    assert not {"aten::detach", "aten::contiguous", "aten::clone"} & forward
