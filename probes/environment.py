"""The environment of a run: facts that explain why two runs may differ, and no secrets.

Only an allow-list of environment variables is read, and argument values that look like
credentials are struck out: a run may be handed to somebody else.
"""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import torch

from probes.names import short_path

VARIABLES = (
    "PYTHONHASHSEED",
    "PYTHONOPTIMIZE",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "MKL_CBWR",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
)
"""Environment variables that decide how a run computes; no other one is read."""

_SECRET = re.compile(r"token|secret|passw|api[-_]?key|credential|auth", re.IGNORECASE)


def collect() -> dict[str, str]:
    """Facts of this process and machine, name -> text."""
    facts = {
        "program": short_path(sys.argv[0]) if sys.argv else "",
        "argv": json.dumps(redact(_command())),
        "pid": str(os.getpid()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cpu_count": str(os.cpu_count()),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "h5py": h5py.__version__,
        "torch_num_threads": str(torch.get_num_threads()),
        "torch_num_interop_threads": str(torch.get_num_interop_threads()),
        "default_dtype": str(torch.get_default_dtype()),
        "deterministic_algorithms": str(torch.are_deterministic_algorithms_enabled()),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "cudnn_deterministic": str(torch.backends.cudnn.deterministic),
        "cudnn_benchmark": str(torch.backends.cudnn.benchmark),
        "cuda": str(torch.version.cuda),
        "devices": _devices(),
    }
    facts |= {f"env:{name}": os.environ[name] for name in VARIABLES if name in os.environ}
    return facts | _git()


def _command() -> list[str]:
    """The command as another person would type it: no path of this machine's folders."""
    interpreter, *arguments = sys.orig_argv or [sys.executable]
    return [Path(interpreter).name, *(short_path(argument) for argument in arguments)]


def redact(arguments: list[str]) -> list[str]:
    """Arguments with the values of credential-like options struck out."""
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        if hide_next:
            shown.append("***")
            hide_next = False
        elif option.startswith("-") and _SECRET.search(option):
            shown.append(f"{option}=***" if equals else option)
            hide_next = not equals
        else:
            shown.append(argument)
    return shown


def _devices() -> str:
    # Asking for the device count would initialise CUDA in a trainer that does not use it.
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return "cpu"
    return ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _git() -> dict[str, str]:
    """Commit of the working directory, and whether it holds changes; empty without git."""
    try:
        commit = _run_git("rev-parse", "HEAD")
        changes = _run_git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"git_commit": commit, "git_dirty": str(bool(changes))}


def _run_git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        capture_output=True,
        text=True,
        timeout=5,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout.strip()
