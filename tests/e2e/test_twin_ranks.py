"""`twin` of several ranks: the one in which a difference begins speaks for all."""

import json
import sys
from pathlib import Path

from tests.e2e.command_line import cli

PROGRAM = """
import numpy as np, torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
rng = np.random.default_rng(1)
for step in range(4):
    if step == 2 and dist.get_rank() == 1:
        rng = np.random.default_rng()
    model(torch.from_numpy(rng.normal(size=(2, 3)).astype("f4"))).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.barrier()
dist.destroy_process_group()
"""


def test_the_rank_whose_batch_differs_speaks_for_those_that_got_its_gradients(
    tmp_path: Path,
) -> None:
    (tmp_path / "ddp.py").write_text(PROGRAM)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    options = ("--no-tui", "--no-values", "-o", "t", "--json", "d.json")
    done = cli("twin", *options, "--", *torchrun, "ddp.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    # Both ranks differ from step 2 on; the batch of rank 1 comes before the reduced gradients.
    assert {(pair["verdict"], pair["onset_step"]) for pair in found["pairs"]} == {("diverged", 2)}
    assert (found["onset"]["step"], found["onset"]["group"]) == (2, "data")
    assert [Path(run["path"]).name for run in found["runs"]] == ["a.rank1.h5", "b.rank1.h5"]
