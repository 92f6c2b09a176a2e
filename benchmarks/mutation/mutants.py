"""Mutants of a source file: one operator, constant, call or statement changed, the rest of the text as it was."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*", "<<": ">>", ">>": "<<", "|": "&", "&": "|",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "//=": "/=", "<<=": ">>=", ">>=": "<<=", "|=": "&=", "&=": "|=",
}  # fmt: skip
COMPARED = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
"""The boundary, and the opposite."""
CALLED = {
    "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "argmax": "argmin", "argmin": "argmax",
    "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "cumsum": "cumprod", "vstack": "hstack",
}  # fmt: skip
SKIPPABLE = {"abs", "clip", "round", "rint", "floor", "ceil", "sorted", "sqrt", "ascontiguousarray"}
"""Functions of which the first argument is left."""
GUARDS = {"strict", "check_finite", "cache", "method"}
"""Keywords that change no result where all is well: a mutant of their value is no mutant."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: str
    """Relative to the root of the repository, with slashes."""
    where: str
    """Function or class, as in ``Part.arguments``; empty for the module."""
    start: int
    end: int
    """The bytes that are replaced."""
    replacement: str
    lines: tuple[int, int]
    """First and last line of the statement (of its head, if it has a body)."""
    on_import: bool
    """Whether it runs when the module is imported, and not when a function is called."""
    original: str
    """The changed lines, as they were and as they are, each as one line."""
    mutated: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names the mutant however its file moves."""
        return self.path, self.where, self.original, self.mutated

    def apply(self, source: bytes) -> bytes:
        """Return the mutated source."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]


def mutants(path: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a file, none of them twice."""
    return list({mutant.key: mutant for mutant in _Mutator(path, source).all()}.values())


class _Mutator:
    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.first_byte = [0]
        for line in source.splitlines(keepends=True):
            self.first_byte.append(self.first_byte[-1] + len(line))
        self.operators = [
            (self._characters(token.start), token.string)
            for token in tokenize.tokenize(io.BytesIO(source).readline)
            if token.type in (tokenize.OP, tokenize.NAME)
        ]
        self.where: list[str] = []
        self.functions = 0  # around the statement
        self.lines = (1, 1)

    def all(self) -> Iterator[Mutant]:
        yield from self._body(ast.parse(self.source).body)

    def _characters(self, place: tuple[int, int]) -> int:
        """Return the offset of a line and a column counted in characters."""
        start = self.first_byte[place[0] - 1]
        line = self.source[start : self.first_byte[min(place[0], len(self.first_byte) - 1)]].decode()
        return start + len(line[: place[1]].encode())

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.first_byte[node.lineno - 1] + node.col_offset
        return start, self.first_byte[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _mutant(self, span: tuple[int, int], replacement: str) -> Mutant:
        start, end = span
        first = self.source.rfind(b"\n", 0, start) + 1
        last = self.source.find(b"\n", end)
        before, after = self.source[first:start].decode(), self.source[end:last].decode()
        changed = self.source[start:end].decode()
        original, mutated = (" ".join(f"{before}{text}{after}".split()) for text in (changed, replacement))
        where, on_import = ".".join(self.where), self.functions == 0
        return Mutant(self.path, where, start, end, replacement, self.lines, on_import, original, mutated)

    def _operator(self, after: int, before: int, known: set[str]) -> tuple[int, int] | None:
        """Return where one of these operators stands between two operands."""
        for at, text in self.operators:
            if after <= at < before and text in known:
                return at, at + len(text)
        return None

    # Statements

    def _body(self, body: list[ast.stmt]) -> Iterator[Mutant]:
        for statement in body:
            yield from self._statement(statement)

    def _statement(self, node: ast.stmt) -> Iterator[Mutant]:
        self.lines = node.lineno, _last_line_of_head(node)
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                return
            case ast.Expr(ast.Constant()):  # a docstring
                return
            case ast.FunctionDef() | ast.ClassDef():
                self.where.append(node.name)
                is_function = isinstance(node, ast.FunctionDef)
                if isinstance(node, ast.FunctionDef):
                    for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
                        yield from self._expression(default)
                self.functions += is_function
                yield from self._body(node.body)
                self.functions -= is_function
                self.where.pop()
                return
            case ast.If(ast.Name("TYPE_CHECKING")):
                return
            case ast.AnnAssign():
                if node.value is not None:
                    yield from self._expression(node.value)
                return
        yield from self._whole_statement(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._expression(child)
        for name in ("body", "orelse", "finalbody"):
            yield from self._body(getattr(node, name, []))
        for inner in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            yield from self._body(inner.body)
        for item in getattr(node, "items", []):
            yield from self._expression(item.context_expr)

    def _whole_statement(self, node: ast.stmt) -> Iterator[Mutant]:
        span = self._span(node)
        match node:
            case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Delete():
                yield self._mutant(span, "pass")
            case ast.Assign([ast.Attribute() | ast.Subscript()]):
                yield self._mutant(span, "pass")
            case ast.Break():
                yield self._mutant(span, "continue")
            case ast.Continue():
                yield self._mutant(span, "break")
            case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
                yield self._mutant(self._span(value), "None")
        if isinstance(node, ast.AugAssign):
            at = self._operator(self._span(node.target)[1], self._span(node.value)[0], set(SWAPPED))
            if at is not None:
                yield self._mutant(at, SWAPPED[self.source[slice(*at)].decode()])
        if isinstance(node, ast.If | ast.While):
            yield from self._negated(node.test)

    def _negated(self, test: ast.expr) -> Iterator[Mutant]:
        if not isinstance(test, ast.Compare | ast.Constant) and not _is_not(test):
            yield self._mutant(self._span(test), f"not ({self._text(test)})")

    # Expressions

    def _expression(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.JoinedStr():  # Python 3.11 does not say where its parts stand
                return
            case ast.BinOp():
                yield from self._binary(node)
            case ast.Compare():
                yield from self._comparison(node)
            case ast.BoolOp():
                yield from self._boolean(node)
            case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
                yield self._mutant(self._span(node), self._text(node.operand))
            case ast.Constant():
                yield from self._constant(node)
            case ast.Call():
                yield from self._call(node)
            case ast.List([first, second, *_], ctx=ast.Load()):
                yield self._mutant((self._span(first)[0], self._span(second)[0]), "")
            case ast.IfExp():
                yield from self._negated(node.test)
            case ast.Slice():
                for bound in (node.lower, node.upper):
                    if isinstance(bound, ast.Name | ast.Attribute | ast.Call):
                        yield self._mutant(self._span(bound), f"{self._text(bound)} + 1")
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.keyword) and child.arg in GUARDS:
                continue
            if not isinstance(child, ast.arguments | ast.expr_context | ast.operator):
                yield from self._expression(child)

    def _binary(self, node: ast.BinOp) -> Iterator[Mutant]:
        operands = (node.left, node.right)
        if any(isinstance(side, ast.JoinedStr) or _is_text(side) or _is_none(side) for side in operands):
            return
        if isinstance(node.op, ast.BitOr) and not self.where:  # a type alias
            return
        at = self._operator(self._span(node.left)[1], self._span(node.right)[0], set(SWAPPED))
        if at is not None:
            yield self._mutant(at, SWAPPED[self.source[slice(*at)].decode()])

    def _comparison(self, node: ast.Compare) -> Iterator[Mutant]:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            after, before = self._span(left)[1], self._span(right)[0]
            left = right
            match operator:
                case ast.Is() | ast.In():
                    at = self._operator(after, before, {"is", "in"})
                    if at is not None:
                        word = self.source[slice(*at)].decode()
                        yield self._mutant(at, {"is": "is not", "in": "not in"}[word])
                case ast.IsNot() | ast.NotIn():
                    at = self._operator(after, before, {"not"})
                    if at is not None:
                        yield self._mutant(at, "")
                case _:
                    at = self._operator(after, before, set(COMPARED))
                    if at is not None:
                        for other in COMPARED[self.source[slice(*at)].decode()]:
                            yield self._mutant(at, other)

    def _boolean(self, node: ast.BoolOp) -> Iterator[Mutant]:
        other = {"and": "or", "or": "and"}
        for left, right in zip(node.values, node.values[1:], strict=False):
            at = self._operator(self._span(left)[1], self._span(right)[0], set(other))
            if at is not None:
                yield self._mutant(at, other[self.source[slice(*at)].decode()])

    def _constant(self, node: ast.Constant) -> Iterator[Mutant]:
        span = self._span(node)
        if isinstance(node.value, bool):
            yield self._mutant(span, str(not node.value))
        elif isinstance(node.value, int):
            yield self._mutant(span, str(node.value + 1))
            if node.value:
                yield self._mutant(span, str(node.value - 1))
        elif isinstance(node.value, float):
            yield self._mutant(span, repr(2.0 * node.value) if node.value else "1.0")

    def _call(self, node: ast.Call) -> Iterator[Mutant]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        end = self._span(node.func)[1]
        if name in CALLED:
            yield self._mutant((end - len(name), end), CALLED[name])
        if name in SKIPPABLE and node.args:
            yield self._mutant(self._span(node), f"({self._text(node.args[0])})")


def _last_line_of_head(node: ast.stmt) -> int:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.end_lineno or node.lineno
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return max(node.lineno, first.lineno - 1)


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
