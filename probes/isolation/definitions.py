"""The part of a source file that some names need, as text.

A main file cannot be imported: it would train. So its top-level statements are read, and those are
taken that define the names, and whatever these refer to: imports, functions, classes, constants.
"""

import ast
import io
from collections.abc import Iterable, Iterator

from bisect_debugger.errors import printable
from probes.isolation import NotIsolated


def definitions(source: str, names: Iterable[str], package: str = "") -> str:
    """The statements that define the names and what they refer to, in their order.

    Args:
        source: the file's text.
        names: names that are bound at its top level.
        package: package of the file, against which its relative imports are resolved.

    Raises:
        NotIsolated: a name is not defined by a statement that could be taken.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise NotIsolated("its source cannot be read") from error
    binding: dict[str, list[int]] = {}
    for number, statement in enumerate(body):
        for name in _bound(statement):
            binding.setdefault(name, []).append(number)
    wanted, taken = list(names), {i for i, s in enumerate(body) if _is_future(s)}
    missing = [name for name in wanted if name not in binding]
    if missing:
        raise NotIsolated(f"{printable(missing[0])} is not defined at the top of its file")
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        for number in binding.get(name, ()):
            if number not in taken:
                taken.add(number)
                wanted += _read(body[number])
    texts = [_text(source, body[number], package) for number in sorted(taken)]
    return "\n\n".join(texts)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds, where it can be taken out without running anything else."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                yield alias.asname or alias.name.partition(".")[0]
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _targets(target)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield from _targets(target)
        case ast.If(body=body, orelse=other) | ast.Try(body=body, orelse=other):
            inner = [*body, *other]
            inner += [s for h in getattr(statement, "handlers", ()) for s in h.body]
            if all(isinstance(each, _HARMLESS) for each in inner):
                for each in inner:
                    yield from _bound(each)


_HARMLESS = (
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Pass,
)


def _targets(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _targets(each)


def _read(statement: ast.stmt) -> list[str]:
    """Names that a statement refers to, also in annotations that are text."""
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    ]


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _text(source: str, statement: ast.stmt, package: str) -> str:
    if isinstance(statement, ast.ImportFrom) and statement.level:
        if not package:
            raise NotIsolated("its file imports from its own package, which is not known")
        parents = package.split(".")
        above = parents[: len(parents) - statement.level + 1]
        statement.module = ".".join([*above, *([statement.module] if statement.module else [])])
        statement.level = 0
        return ast.unparse(statement)
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        # A form feed ends no line to Python's parser, though it does to `str.splitlines`.
        lines = io.StringIO(source).readlines()
        return "".join(lines[decorators[0].lineno - 1 : statement.end_lineno]).rstrip("\n")
    return ast.get_source_segment(source, statement) or ast.unparse(statement)
