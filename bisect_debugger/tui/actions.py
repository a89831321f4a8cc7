"""The registry of actions: footer, help and palette are all made from it."""

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


ACTIONS: tuple[Action, ...] = (
    Action("show_verdict", ("1",), "1", "verdict", "Show the verdict and its origins.", 2),
    Action("show_trail", ("2",), "2", "trail", "Show the decision tree as it was walked.", 2),
    Action("show_timeline", ("3",), "3", "steps", "Show the timeline: steps by groups.", 2),
    Action("show_buffers", ("4",), "4", "buffers", "Show the events of a step.", 2),
    Action("show_buffer", ("5",), "5", "values", "Show the numbers and values of one buffer.", 2),
    Action("show_note", ("6",), "6", "note", "Show the note as it would be written.", 2),
    Action("first", ("f",), "f", "first", "Go to the first divergence.", 3),
    Action("next", ("n",), "n", "next", "Go to the next divergence."),
    Action("previous", ("N",), "N", "previous", "Go to the previous divergence."),
    Action("filter", ("slash",), "/", "filter", "Filter names: text, !text or re:pattern.", 3),
    Action("go_to", ("colon",), ":", "go to", "Go to a step, a name, or first.", 3),
    Action("toggle_equal", ("u",), "u", "equal", "Show or hide what is equal."),
    Action("sort", ("s",), "s", "sort", "Sort by execution order, name or group."),
    Action("maximise", ("plus",), "+", "maximise", "Give one pane the whole width, or undo it."),
    Action("copy", ("y",), "y", "copy", "Copy what is in view, and write it to a file."),
    Action("export", ("x",), "x", "export", "Write the note beside the first run."),
    Action("edit", ("E",), "E", "edit", "Write the note and open it in $EDITOR."),
    Action("help", ("question_mark",), "?", "help", "Show all keys and symbols.", 1),
    Action(
        "back", ("escape",), "esc", "back", "Clear the filter; else go back to where you came from."
    ),
    Action("quit", ("q",), "q", "quit", "Leave.", 1),
)

MOVES: tuple[tuple[str, str], ...] = (
    ("up down, j k", "move the cursor"),
    ("page up, page down", "move by a page"),
    ("g G", "go to the first or last line"),
    ("enter", "go into the line under the cursor"),
    ("tab", "go to the next pane"),
    ("ctrl+p", "open the palette with every action"),
)
"""Keys of the tables and of Textual itself, for the help."""


def bindings() -> list[Binding]:
    """Every action as Textual bindings."""
    return [
        Binding(key, action.name, action.label, show=False, key_display=action.shown)
        for action in ACTIONS
        for key in action.keys
    ]


def footer_text(width: int) -> str:
    """Keys and labels of the footer, as many as fit into the width, the dearest of them."""
    shown = [action for action in ACTIONS if action.footer]
    while shown:
        text = "  ".join(f"{action.shown} {action.label}" for action in shown)
        if len(text) <= width:
            return text
        cheapest = max(action.footer for action in shown)
        shown.remove([action for action in shown if action.footer == cheapest][-1])
    return ""
