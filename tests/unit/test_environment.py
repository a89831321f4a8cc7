"""The environment: facts as the process holds them, and nothing that should not leave it."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from probes import environment
from probes.redaction import redact

HEX40 = "0123456789abcdef" * 2 + "01234567"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("--seed 42 --lr=0.1", None),
        ("--tokenizer gpt2 --max-tokens 512 --pad-token <pad> --num_tokens=9", None),
        ("--author me --key-dim 64 --keys 3 --authentic", None),
        ("--api-key abc --steps 3", "--api-key *** --steps 3"),
        ("--api_key=abc", "--api_key=***"),
        ("--apiKey abc", "--apiKey ***"),
        ("--token -abc", "--token ***"),
        ("--hf-token abc", "--hf-token ***"),
        ("--password p=q", "--password ***"),
        ("--use-auth --lr 0.1", "--use-auth --lr 0.1"),
        ("WANDB_API_KEY=abc", "WANDB_API_KEY=***"),
        ("logger.wandb.api_key=abc", "logger.wandb.api_key=***"),
        ("AWS_SECRET_ACCESS_KEY=abc", "AWS_SECRET_ACCESS_KEY=***"),
        ("https://me:pass@host/data", "https://***@host/data"),
        ("--url=https://tok@host/x", "--url=https://***@host/x"),
        ("hf_abcdefghijklmnopqrstuvwx", "***"),
        ("ghp_abcdefghijklmnopqrstuvwx", "***"),
        ("AKIAABCDEFGHIJKLMNOP", "***"),
        (f"--wandb {HEX40}", "--wandb ***"),
    ],
)
def test_credentials_are_struck_out_and_hyper_parameters_are_not(
    typed: str, shown: str | None
) -> None:
    assert " ".join(redact(typed.split())) == (typed if shown is None else shown)


def test_an_authorization_header_is_struck_out() -> None:
    assert redact(["-H", "Authorization: Bearer abc.def"]) == ["-H", "Authorization: ***"]


def test_only_listed_variables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("WANDB_API_KEY", "not-to-be-seen")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:not-to-be-seen@host")
    facts = environment.collect()
    assert facts["env:PYTHONHASHSEED"] == "7"
    assert facts["env:OMP_NUM_THREADS"] == "1"
    assert "not-to-be-seen" not in json.dumps(facts)
    listed = {name for name in facts if name.startswith("env:")}
    assert listed == {f"env:{name}" for name in environment.VARIABLES if name in os.environ}


def test_facts_are_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "--token", "abc"])
    monkeypatch.setattr(sys, "orig_argv", ["/usr/bin/python", "train.py", "--token", "abc"])
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        facts = environment.collect()
    finally:
        torch.use_deterministic_algorithms(False)
    assert json.loads(facts["argv"]) == ["python", "train.py", "--token", "***"]
    assert facts["program"] == "train.py"
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert (facts["torch"], facts["numpy"]) == (torch.__version__, np.__version__)
    assert facts["torch_num_threads"] == str(torch.get_num_threads())
    assert facts["deterministic_algorithms"] == "True"
    assert facts["deterministic_warn_only"] == "True"
    assert facts["default_dtype"] == "torch.float32"
    assert facts["devices"] == "cpu"
    assert not [name for name, fact in facts.items() if fact.startswith("not readable")]


def test_a_fact_that_cannot_be_had_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise RuntimeError("mixed settings")

    monkeypatch.setitem(environment._FACTS, "cublas_allow_tf32", refuse)
    facts = environment.collect()
    assert facts["cublas_allow_tf32"] == "not readable (RuntimeError)"
    assert facts["torch"] == torch.__version__


def test_asking_changes_nothing() -> None:
    before = (repr(np.random.get_state()), torch.get_num_threads(), random.getstate())
    stream = torch.get_rng_state()
    environment.collect()
    assert (repr(np.random.get_state()), torch.get_num_threads(), random.getstate()) == before
    assert torch.equal(torch.get_rng_state(), stream)
    assert not torch.cuda.is_initialized()  # type: ignore[no-untyped-call]


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_commit_and_whether_it_was_changed(tmp_path: Path) -> None:
    assert environment.git_state(tmp_path) == {}
    git(tmp_path, "init", "-q")
    assert environment.git_state(tmp_path) == {}, "no commit yet"
    source = tmp_path / "train.py"
    source.write_text("lr = 1\n")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-q", "-m", "first")
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "notes.txt").write_text("not tracked")
    assert environment.git_state(tmp_path) == {"git_commit": commit, "git_dirty": "False"}
    source.write_text("lr = 2\n")
    index = (tmp_path / ".git" / "index").read_bytes()
    below = tmp_path / "below"
    below.mkdir()
    assert environment.git_state(below) == {"git_commit": commit, "git_dirty": "True"}
    assert (tmp_path / ".git" / "index").read_bytes() == index


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.git_state(tmp_path) == {}
