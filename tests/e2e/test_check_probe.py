"""`check-probe -- CMD`: bare against recorded, bit for bit."""

from tests.e2e.command_line import cli
from tests.e2e.trained import SUPERVISED


def test_a_trainer_that_is_left_alone() -> None:
    done = cli("check-probe", "--", *SUPERVISED, "--steps", "3")
    assert done.returncode == 0, done.stderr
    assert "16 final tensors" in done.stdout  # 4 parameters, each with step and two moments


def test_a_trainer_that_the_probe_changes() -> None:
    """It looks whether anybody hooked torch, and trains faster then."""
    done = cli("check-probe", "--", *SUPERVISED, "--steps", "3", "--notice-probes")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("The probe changed the run: optimizer[0].param[0] ")


def test_a_trainer_that_does_not_repeat_itself() -> None:
    done = cli("check-probe", "--", *SUPERVISED, "--steps", "3", "--batches", "unseeded")
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("Inconclusive: two bare runs differ")


def test_one_run_of_each_kind_is_refused() -> None:
    done = cli("check-probe", "-n", "1", "--", *SUPERVISED)
    assert done.returncode == 2
    assert "two or more" in done.stderr
