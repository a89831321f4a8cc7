"""The registry of actions: keys, footer, help and palette are all made from it."""

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do.

    Attributes:
        name: Textual action of the app, e.g. ``show_timeline``.
        keys: keys that do it.
        shown: how the keys are written for a person.
        label: one or two words, for the footer.
        help: one sentence, for help and palette.
        footer: how dear its place in the footer is: 1 is given up last, 0 has none.
    """

    name: str
    keys: tuple[str, ...]
    shown: str
    label: str
    help: str
    footer: int = 0


SCREENS: tuple[Action, ...] = (
    Action("show_verdict", ("1",), "1", "verdict", "Show the verdict and its origins.", 2),
    Action("show_trail", ("2",), "2", "why", "Show the decision tree as it was walked.", 2),
    Action("show_timeline", ("3",), "3", "steps", "Show the timeline: steps by groups.", 2),
    Action("show_buffers", ("4",), "4", "buffers", "Show the events of a step.", 2),
    Action("show_buffer", ("5",), "5", "values", "Show the numbers and values of one buffer.", 2),
    Action("show_note", ("6",), "6", "note", "Show the note as it would be written.", 2),
    Action("show_growth", ("7",), "7", "growth", "Show how a buffer's difference grows.", 3),
    Action("show_reach", ("8",), "8", "reach", "Show which components an origin reached.", 3),
    Action("show_experiments", ("9",), "9", "tried", "Show what changing one condition did.", 4),
    Action("show_runs", ("0",), "0", "runs", "Show the runs' facts; choose another pair.", 4),
)

MOVES_OF_MIND: tuple[Action, ...] = (
    Action("first", ("f",), "f", "first", "Go to the first divergence.", 5),
    Action("next", ("n",), "n", "next", "Go to the next divergence."),
    Action("previous", ("N",), "N", "previous", "Go to the previous divergence."),
    Action(
        "filter",
        ("slash",),
        "/",
        "filter",
        "Filter buffers: text, !text or re:pattern, any case.",
        5,
    ),
    Action("go_to", ("colon",), ":", "go to", "Go to a step, a name, or first.", 5),
    Action(
        "toggle_equal", ("u",), "u", "equal", "Show or hide what is equal or outside the training."
    ),
    Action("sort", ("s",), "s", "sort", "Sort by execution order, name or group."),
    Action("zoom_in", ("z",), "z", "zoom in", "Timeline: fewer steps a cell."),
    Action("zoom_out", ("Z",), "Z", "zoom out", "Timeline: more steps a cell."),
    Action("next_pair", ("right_square_bracket",), "]", "next pair", "Show the next pair of runs."),
    Action(
        "previous_pair",
        ("left_square_bracket",),
        "[",
        "previous pair",
        "Show the pair of runs before.",
    ),
    Action("maximise", ("plus",), "+", "maximise", "Give one pane the whole width, or undo it."),
    Action("toggle_theme", ("t",), "t", "theme", "Change between dark and light."),
)

OUT: tuple[Action, ...] = (
    Action("copy", ("y",), "y", "copy", "Copy what is in view, and write it to a file."),
    Action("export", ("x",), "x", "export", "Write the note beside the first run."),
    Action("edit", ("E",), "E", "edit", "Write the note and open it in $EDITOR."),
)

ALWAYS: tuple[Action, ...] = (
    Action("help", ("question_mark",), "?", "help", "Explain this screen and all keys.", 1),
    Action("palette", ("ctrl+p",), "^p", "all", "List everything that can be done.", 1),
    Action(
        "back", ("escape",), "esc", "back", "Clear the filter; else go back to where you came from."
    ),
    Action("quit", ("q",), "q", "quit", "Leave.", 1),
)

ACTIONS: tuple[Action, ...] = (*SCREENS, *MOVES_OF_MIND, *OUT, *ALWAYS)

MOVES: tuple[tuple[str, str], ...] = (
    ("arrows, h j k l", "move the cursor"),
    ("page up, page down", "move by a page"),
    ("g G, home end", "go to the first or last"),
    ("enter", "go into what is under the cursor"),
    ("tab", "go to the next pane"),
    ("click", "move there; on the cursor: go in; in the last line: do it"),
)
"""Keys of the panes and of Textual itself, for the help."""


SUSPEND = Binding("ctrl+z", "suspend_process", "suspend", show=False)
"""Listens also where the actions do not, e.g. while a training goes on."""


def bindings() -> list[Binding]:
    """Every action as Textual bindings."""
    return [
        Binding(key, action.name, action.label, show=False, key_display=action.shown)
        for action in ACTIONS
        for key in action.keys
    ]


def footer_actions(width: int) -> tuple[Action, ...]:
    """The actions that fit into a footer of this width, the dearest of them, in order."""
    shown = [action for action in ACTIONS if action.footer]
    while shown and sum(len(f"{x.shown} {x.label}") + 2 for x in shown) - 2 > width:
        cheapest = max(action.footer for action in shown)
        shown.remove([action for action in shown if action.footer == cheapest][-1])
    return tuple(shown)
