"""docs/causes.md: every cause with an example out of the benchmark, as `twin` told it.

``python -m tests.causes --keep DIR`` keeps what was told; ``python -m tests.causes.document --take
DIR`` takes the examples from there; ``python -m tests.causes.document`` prints the page.
"""

import argparse
import ast
import json
import re
from pathlib import Path
from typing import Any

from bisect_debugger.causality.causes import REMEDIES, Cause
from bisect_debugger.causality.nodes import Leaf
from bisect_debugger.causality.tree import TREE
from bisect_debugger.causality.variants import VARIANTS
from tests.causes.case import Case
from tests.causes.cases import CASES

TOLD = Path(__file__).resolve().parent / "told.json"
EXAMPLES: dict[Cause, str] = {
    Cause.SEED_NOT_APPLIED: "curve_vae",
    Cause.UNSEEDED_INIT: "finetune_late_seed",
    Cause.UNINITIALISED_MEMORY: "speech_padding",
    Cause.RNG_STREAM: "masked_lm_bytes",
    Cause.SAMPLER_ORDER: "length_buckets",
    Cause.DATA_ORDER: "dedup_rows",
    Cause.PREFETCH_INTERLEAVING: "prefetch_crops",
    Cause.SIMULATOR: "gusty_glider",
    Cause.FORWARD_KERNEL: "pooled_attention",
    Cause.BACKWARD_KERNEL: "scatter_embedding",
    Cause.REDUCTION_ORDER: "microbatch_pool",
    Cause.OPTIMIZER_ORDER: "decay_groups",
    Cause.OPTIMIZER_STATE: "shared_second_moment",
    Cause.ASYNC_UPDATE: "late_priorities",
    Cause.RESUME_STATE: "resume_unseeded",
    Cause.ENVIRONMENT: "tuned_threads",
    Cause.WALL_CLOCK: "budget_schedule",
    Cause.CONTROL_FLOW: "branch_names",
}
_MOST_EVIDENCE = 4

_INTRODUCTION = """\
# Causes

Every cause that an origin may have, what to change, what would confirm or refute it, and an
example: a trainer of the benchmark in `tests/causes/trainers`, and what `bisect-debugger twin` told
of it. The [decision tree](decision-tree.md) leads from the recordings to a cause; experiments
(`twin --explain`, see [twin.md](twin.md)) prove it, or correct it. This page is generated.
"""


def page(told: dict[str, Any]) -> str:
    """The page, from what was told of the examples."""
    parts = [_INTRODUCTION]
    for cause in Cause:
        remedy = REMEDIES[cause]
        parts += [f"## `{cause.value}`\n", f"{remedy.meaning}\n", "What to change:\n"]
        parts += ["\n".join(f"- {words}" for words in remedy.advice) + "\n"]
        parts += [f"To confirm or refute it: {remedy.confirm}\n"]
        parts += [_variant(node) for node in TREE.values() if _is_of(node, cause)]
        if cause in EXAMPLES and EXAMPLES[cause] in told:
            parts.append(_example(EXAMPLES[cause], told[EXAMPLES[cause]]))
    return "\n".join(parts)


def _is_of(node: object, cause: Cause) -> bool:
    return isinstance(node, Leaf) and node.cause is cause and bool(node.variant)


def _variant(node: Any) -> str:
    remedy = VARIANTS[node.variant]
    return f"Where more is known: {remedy.meaning} {remedy.advice[0]}\n"


def _example(script: str, told: dict[str, Any]) -> str:
    case = case_called(script)
    about = ast.get_docstring(ast.parse(case.path.read_text(encoding="utf-8"))) or ""
    lines = [
        f"Example, `{script}.py`: {about.splitlines()[0]}",
        *([f"The fault: {case.why}."] if case.why else []),
        "",
        "```text",
        told["sentence"],
        *(f"- {words}" for words in told["evidence"]),
        *(f"  or {each['cause']}: {each['why']}" for each in told["alternatives"]),
        "```",
        "",
    ]
    return "\n".join(lines)


def case_called(script: str) -> Case:
    """The case of a script."""
    return next(case for case in CASES if case.script == script)


def condensed(diagnosis: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a diagnosis; folders of this machine are left out."""
    origin = diagnosis["origins"][0]
    told = {
        "sentence": diagnosis["sentence"],
        "component": origin["component"],
        "cause": origin["cause"],
        "evidence": origin["evidence"][:_MOST_EVIDENCE],
        "alternatives": origin.get("alternatives", []),
    }
    found: dict[str, Any] = json.loads(_without_folders(json.dumps(told)))
    return found


def _without_folders(text: str) -> str:
    """Paths of trainers without the folder, wherever the checkout lay."""
    return re.sub(r"[^\s\"\[(`]*/tests/causes/trainers/", "", text)


def main() -> None:
    """Take examples, or print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--take", type=Path, metavar="DIR", help="folder that --keep wrote")
    asked = parser.parse_args()
    told = json.loads(TOLD.read_text(encoding="utf-8")) if TOLD.exists() else {}
    if asked.take is None:
        print(page(told), end="")
        return
    for script in EXAMPLES.values():
        path = asked.take / f"{script}.json"
        if path.exists():
            diagnosis = json.loads(path.read_text(encoding="utf-8"))
            if diagnosis.get("origins"):
                told[script] = condensed(diagnosis)
    TOLD.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
