"""The environment of a run: facts that explain why two runs may differ, and no secrets.

Only an allow-list of environment variables is read, and what looks like a credential in the
command is struck out. Nothing is imported, initialised or set: each fact is one that the
process already holds.
"""

import json
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import torch

from probes.paths import short_path
from probes.redaction import redact

VARIABLES = (
    "PYTHONHASHSEED",
    "PYTHONOPTIMIZE",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_SCHEDULE",
    "OMP_DYNAMIC",
    "KMP_AFFINITY",
    "KMP_DETERMINISTIC_REDUCTION",
    "MKL_NUM_THREADS",
    "MKL_DYNAMIC",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "NUMEXPR_NUM_THREADS",
    "ATEN_CPU_CAPABILITY",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "NVIDIA_TF32_OVERRIDE",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_NVML_BASED_CUDA_CHECK",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TORCH_BLAS_PREFER_CUBLASLT",
    "TORCH_CUDNN_V8_API_DISABLED",
    "TORCH_COMPILE_DISABLE",
    "TORCHDYNAMO_DISABLE",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
)
"""Environment variables that decide how a run computes; no other one is read."""

GIT_SECONDS = 5.0
"""Longest wait for git, which may have to look through a large working tree."""


def collect() -> dict[str, str]:
    """Facts of this process and machine, name -> text."""
    facts = {}
    with warnings.catch_warnings():
        # Asking torch for a setting may warn that the setting goes by another name now.
        warnings.simplefilter("ignore")
        for name, read in _FACTS.items():
            try:
                facts[name] = str(read())
            except Exception as error:  # noqa: BLE001 - a fact that cannot be had stops no run
                facts[name] = f"not readable ({type(error).__name__})"
    facts |= {f"env:{name}": os.environ[name] for name in VARIABLES if name in os.environ}
    try:
        return facts | git_state(Path.cwd())
    except OSError:
        # The working directory may be no more.
        return facts


def git_state(folder: Path) -> dict[str, str]:
    """Commit of a folder's repository, and whether tracked files were changed since.

    Returns:
        ``git_commit`` and ``git_dirty``; nothing where git or a repository is missing.
    """
    try:
        commit = _run_git(folder, "rev-parse", "HEAD")
        changes = _run_git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"git_commit": commit, "git_dirty": str(bool(changes))}


def _run_git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        # Without locks: a look at the tree must not write its index.
        ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=GIT_SECONDS,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout.strip()


def _command() -> list[str]:
    """The command as another person would type it: no path of this machine's folders."""
    interpreter, *arguments = sys.orig_argv or [sys.executable]
    return [Path(interpreter).name, *(short_path(argument) for argument in arguments)]


def _devices() -> str:
    # Asking for the device count would initialise CUDA in a trainer that does not use it.
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return "cpu"
    return ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))


def _cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


_FACTS: dict[str, Callable[[], object]] = {
    "program": lambda: short_path(redact(sys.argv[:1])[0]) if sys.argv else "",
    "argv": lambda: json.dumps(redact(_command())),
    "python": platform.python_version,
    "hash_randomization": lambda: bool(sys.flags.hash_randomization),
    "platform": platform.platform,
    "cpu": _cpu_model,
    "cpu_count": os.cpu_count,
    "cpu_capability": torch.backends.cpu.get_cpu_capability,
    "torch": lambda: torch.__version__,
    "numpy": lambda: np.__version__,
    "h5py": lambda: h5py.__version__,
    "cuda": lambda: torch.version.cuda,
    "cudnn": torch.backends.cudnn.version,
    "devices": _devices,
    "torch_num_threads": torch.get_num_threads,
    "torch_num_interop_threads": torch.get_num_interop_threads,
    "default_dtype": torch.get_default_dtype,
    "deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
    "deterministic_warn_only": torch.is_deterministic_algorithms_warn_only_enabled,
    "fill_uninitialized_memory": lambda: torch.utils.deterministic.fill_uninitialized_memory,  # type: ignore[attr-defined]
    "float32_matmul_precision": torch.get_float32_matmul_precision,
    "cudnn_deterministic": lambda: torch.backends.cudnn.deterministic,
    "cudnn_benchmark": lambda: torch.backends.cudnn.benchmark,
    "cudnn_allow_tf32": lambda: torch.backends.cudnn.allow_tf32,
    "cublas_allow_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
}
