"""Relations between components, read off the names that a recording holds."""

import pytest

from bisect_debugger.causality.names import is_action, root_of_batch
from bisect_debugger.format.groups import Group
from tests.unit.test_tree import row


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("data.model.in[0]", "model"),
        ("data.agent.net.in[0].inputs[1]", "agent.net"),
        ("data.model.in.input_ids", "model"),
        ("data.model.inner.in.inputs", "model.inner"),
        ("loader.batch.inputs", ""),
        ("env.action", ""),
    ],
)
def test_a_batch_enters_the_module_before_its_argument(name: str, root: str) -> None:
    assert root_of_batch(name) == root


def test_what_enters_a_model_under_the_name_of_an_action_goes_into_no_simulator() -> None:
    assert is_action(row(Group.DATA, role="action.x"))
    assert not is_action(row(Group.DATA, role="in.action"))
    assert not is_action(row(Group.DATA, role="in[0].actions"))
