"""Two themes, dark and light, in colours that colour-blind people tell apart."""

from textual.theme import Theme

DARK = Theme(
    name="bisect-dark",
    primary="#56B4E9",
    secondary="#CC79A7",
    warning="#F0E442",
    error="#E69F00",
    success="#56B4E9",
    accent="#E69F00",
    foreground="#E4E4E4",
    background="#121212",
    surface="#1C1C1C",
    panel="#262626",
    dark=True,
)

LIGHT = Theme(
    name="bisect-light",
    primary="#0072B2",
    secondary="#A0387E",
    warning="#6E5F00",
    error="#B34700",
    success="#0072B2",
    accent="#B34700",
    foreground="#1A1A1A",
    background="#FDFDFB",
    surface="#F3F3EF",
    panel="#E8E8E2",
    dark=False,
)

THEMES = (DARK, LIGHT)
