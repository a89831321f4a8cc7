"""Striking out what looks like a credential, because a run may be handed to somebody else."""

import re
from collections.abc import Sequence

HIDDEN = "***"

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

_SECRET_NAME = re.compile(
    r"""
    (?:^|_)(?:
        (?:api|access|secret|private|signing|encryption|account|license|ssh)_?key
        | passphrase | passw(?:or)?d | pwd | secrets? | credentials? | authorization | auth | bearer
    )(?:_|$)
    | (?<!pad_)(?<!eos_)(?<!bos_)(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)(?<!special_)token$
    | ^key$
    """,
    re.VERBOSE,
)
"""Names of options that announce a credential, as lower-case words joined by ``_``.

Not a credential: ``tokenizer``, ``max_tokens``, ``pad_token``, ``key_dim``.
"""

_LOOKS_SECRET = re.compile(
    r"""
    \b(?:hf|sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[abprs]|npm|pypi|dckr_pat)[-_][A-Za-z0-9_-]{16,}
    | \bgithub_pat_\w{20,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*
    | \bBearer\s+\S+
    | \b[0-9a-f]{40}\b
    """,
    re.VERBOSE,
)
"""Forms that services give their tokens, by their public prefixes; 40 hex digits are one too."""

_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def redact(arguments: Sequence[str]) -> list[str]:
    """Arguments of a command with credentials struck out.

    Hidden are the value of an option whose name announces a credential (``--api-key X``,
    ``--token=X``, ``wandb.api_key=X``), values that have a token's form, and user and password
    in an address.
    """
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        if hide_next and not argument.startswith("--"):
            shown.append(HIDDEN)
            hide_next = False
            continue
        name, equals, _ = argument.partition("=")
        announced = _announces(name)
        hide_next = announced and argument.startswith("-") and not equals
        shown.append(f"{name}={HIDDEN}" if announced and equals else _without_tokens(argument))
    return shown


def _announces(name: str) -> bool:
    return bool(_SECRET_NAME.search("_".join(_WORD.findall(name)).lower()))


def _without_tokens(text: str) -> str:
    return _USER_IN_ADDRESS.sub(HIDDEN, _LOOKS_SECRET.sub(HIDDEN, text))
