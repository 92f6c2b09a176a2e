"""Templates show the text and decide nothing: Python names the flags and the values, a template places them.

What follows lists all that a template may do. Anything else is refused, so new syntax has to be allowed here first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

TEMPLATES = Path(__file__).parent.parent / "templates"
PLACING = (nodes.Template, nodes.Output, nodes.TemplateData, nodes.Include, nodes.Import, nodes.FromImport)
BRANCHING = (nodes.For, nodes.If, nodes.Not, nodes.And, nodes.Or)
NAMING = (nodes.Name, nodes.Getattr, nodes.Const, nodes.List, nodes.Tuple, nodes.Assign)
CALLING = (nodes.Macro, nodes.Call, nodes.Keyword, nodes.Filter)
ALLOWED = (*PLACING, *BRANCHING, *NAMING, *CALLING)
GIVEN = (nodes.Name, nodes.Getattr)
"""What Python handed over, by name."""
OWN_FILTERS = "c_"
"""Filters of this project start so: they write numbers and untrusted text as C."""
FILTERS = {"join", "length", "indent", "lines"}
"""Filters that lay text out or count a given list."""


def offences(source: str, name: str) -> list[str]:
    """Return a sentence with file and line for all that a template may not do."""
    template = Environment().parse(source)  # noqa: S701 - parsed only
    macros = {macro.name for macro in template.find_all(nodes.Macro)}
    for statement in template.find_all(nodes.FromImport):
        macros |= {names[1] if isinstance(names, tuple) else names for names in statement.names}
    libraries = {statement.target for statement in template.find_all(nodes.Import)}
    return [
        f"{name}:{node.lineno}: {sentence}"
        for node, parent in walk(template, None)
        if (sentence := offence(node, parent, macros, libraries)) is not None
    ]


def walk(node: nodes.Node, parent: nodes.Node | None) -> Iterator[tuple[nodes.Node, nodes.Node | None]]:
    yield node, parent
    for child in node.iter_child_nodes():
        yield from walk(child, node)


def offence(node: nodes.Node, parent: nodes.Node | None, macros: set[str], libraries: set[str]) -> str | None:
    """Return what is wrong with a node itself, its children left aside."""
    match node:
        case _ if type(node) not in ALLOWED:
            return f"{type(node).__name__} is not for templates; decide or compute it in Python and pass it by name"
        case nodes.If(test=test) if not is_flag(test):
            return "an if takes named flags, with and, or, not; make the test in Python and name its result"
        case nodes.For(test=test, recursive=recursive) if test is not None or recursive:
            return "a for takes every item of its list; leave items out in Python"
        case nodes.For(iter=items) if not (isinstance(items, GIVEN) or is_list_of_constants(items)):
            return "a for takes a given list; make the list in Python"
        case nodes.Not() | nodes.And() | nodes.Or() if not isinstance(
            parent, nodes.If | nodes.Not | nodes.And | nodes.Or
        ):
            return "and, or and not belong in an if; make the value in Python"
        case nodes.Assign(target=target, node=value) if not isinstance(target, nodes.Name) or not isinstance(
            value, (*GIVEN, nodes.Const, nodes.Call)
        ):
            return "a set names a given value or what a macro wrote; compute the value in Python"
        case nodes.Filter(name=name) if not (name.startswith(OWN_FILTERS) or name in FILTERS):
            return f"filter {name} is not one that writes numbers or text; apply it in Python"
        case nodes.Filter(args=args, kwargs=kwargs, dyn_args=more, dyn_kwargs=named) if (
            more is not None or named is not None or not all(isinstance(a, nodes.Const) for a in args) or kwargs
        ):
            return "a filter's arguments are constants; compute the value in Python"
        case nodes.Call(node=nodes.Name(name=name)) if name in macros:
            return None
        case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=name))) if name in libraries:
            return None
        case nodes.Call():
            return "only macros are called; call functions and methods in Python"
        case nodes.Include(template=template) if not isinstance(template, (*GIVEN, nodes.Const)):
            return "an include takes a name; compute the name in Python"
    return None


def is_flag(test: nodes.Node) -> bool:
    """Return whether a test asks only for named flags."""
    if isinstance(test, nodes.Not):
        return is_flag(test.node)
    if isinstance(test, nodes.And | nodes.Or):
        return is_flag(test.left) and is_flag(test.right)
    return isinstance(test, GIVEN)


def is_list_of_constants(items: nodes.Node) -> bool:
    return isinstance(items, nodes.List) and all(isinstance(item, nodes.Const) for item in items.items)


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.j2")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_a_template_holds_no_decision(path: Path) -> None:
    found = offences(path.read_text(encoding="utf-8"), str(path.relative_to(TEMPLATES.parent)))
    assert not found, "\n".join(found)


def test_there_are_templates() -> None:
    assert any(TEMPLATES.glob("c/*.j2"))


ALLOWED_TEXTS = [
    "static const float {{ name }}_coef[{{ coef | length }}] = {{ coef | c_array(4) }};",
    "{% if early_exit and not (fast or plan.is_small) %}break;{% elif fast %}x{% else %}y{% endif %}",
    "{% for key, value in card %}{{ key | c_comment }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for function in ['scores', 'predict'] %}{{ name }}_{{ function }}{% endfor %}",
    "{% macro add(sum, step=1) %}{{ sum }} += {{ step }};{% endmacro %}{{ add('total', step=plan.step) }}",
    "{% from 'c/loops.c.j2' import dot as product, norm %}{% set xz = product(x) %}{{ norm(xz) | lines }}",
    "{% import 'c/loops.c.j2' as loops %}{{ loops.dot(x) }}",
    "{% set step = plan.step %}{% set type = 'int8_t' %}{{ type }} {{ step | c_real }}",
    "{% include 'c/rom.c.j2' %}{% for helper in helpers %}{% include helper %}{% endfor %}",
    "{# a comment #}{{ names | join(', ') }}",
]


@pytest.mark.parametrize("source", ALLOWED_TEXTS)
def test_what_a_template_may_do(source: str) -> None:
    assert offences(source, "a.c.j2") == []


REFUSED = [
    ("{% if kernel == 'rbf' %}x{% endif %}", "Compare is not for templates"),
    ("{% if n > 3 %}x{% endif %}", "an if takes named flags"),
    ("{% if name in ('q7', 'q15') %}x{% endif %}", "Compare is not for templates"),
    ("{% if table is defined %}x{% endif %}", "Test is not for templates"),
    ("{% if tables | length %}x{% endif %}", "an if takes named flags"),
    ("{{ n + 1 }}", "Add is not for templates"),
    ("{{ -n }}", "Neg is not for templates"),
    ("{{ 2 ** bits - 1 }}", "Pow is not for templates"),
    ("{{ '%.6f' % value }}f", "Mod is not for templates"),
    ("{{ '%d' | format(value) }}", "filter format"),
    ("{{ name ~ '_scores' }}", "Concat is not for templates"),
    ("{{ values | sum }}", "filter sum"),
    ("{{ values | c_array(indent) }}", "a filter's arguments are constants"),
    ("{{ first or second }}", "and, or and not belong in an if"),
    ("{% macro a(x) %}{% endmacro %}{{ a(not flag) }}", "and, or and not belong in an if"),
    ("{{ 'u' if unsigned else '' }}", "CondExpr is not for templates"),
    ("{{ values[0] }}", "Getitem is not for templates"),
    ("{{ name.upper() }}", "only macros are called"),
    ("{{ range(4) }}", "only macros are called"),
    ("{% for i in range(4) %}{{ i }}{% endfor %}", "a for takes a given list"),
    ("{% for row in rows if row.used %}{{ row }}{% endfor %}", "a for takes every item"),
    ("{% for row in rows | sort %}{{ row }}{% endfor %}", "a for takes a given list"),
    ("{% set n = n + 1 %}", "a set names a given value"),
    ("{% set lines %}x{% endset %}", "AssignBlock is not for templates"),
    ("{% include folder ~ '/a.j2' %}", "an include takes a name"),
    ("{% extends 'base.j2' %}", "Extends is not for templates"),
]


@pytest.mark.parametrize(("source", "sentence"), REFUSED)
def test_what_a_template_may_not_do(source: str, sentence: str) -> None:
    found = offences(f"/* line 1 */\n{source}", "c/a.c.j2")
    assert any(text.startswith("c/a.c.j2:2: ") and sentence in text for text in found), found
