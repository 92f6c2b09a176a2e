"""How a method declares its parameters: one annotated class attribute each.

    C: float = LOSS_WEIGHT
    p: float = parameter(0.5, "power of the slack; 1 is the ordinary SVM", SHARE)

The constructor, scikit-learn's checks and the docstring's ``Args`` are built from these. A subclass inherits them and
may give one another default: ``C: float = 10.0``.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, dataclass_transform

from sparsegen.methods.shared.sklearn_private import Interval, StrOptions

DOC_WIDTH = 110


@dataclass(frozen=True)
class MethodParameter:
    """A declared parameter: its default, what it means, and what it may be."""

    default: Any
    meaning: str
    allowed: tuple[Any, ...]
    """scikit-learn's constraints; a default of ``None`` is always allowed."""
    kw_only: bool = True
    annotation: str = ""

    @property
    def constraints(self) -> list[Any]:
        """What scikit-learn checks the value against."""
        return [*self.allowed, *([None] if self.default is None else [])]


def parameter(default: Any, meaning: str, *allowed: Any) -> Any:
    """Return the declaration of a keyword parameter; typed ``Any`` so that the attribute keeps its own annotation."""
    return MethodParameter(default, meaning, allowed)


def positional(*, default: Any, meaning: str, allowed: tuple[Any, ...], kw_only: bool) -> Any:
    """Return the declaration of a parameter that may come without its name.

    Call it with ``kw_only=False``: type checkers read that from the call.
    """
    return MethodParameter(default, meaning, allowed, kw_only)


@dataclass_transform(kw_only_default=True, field_specifiers=(positional,))
class Parameterized:
    """A class whose constructor, checks and ``Args`` follow from the parameters it declares."""

    _declared: ClassVar[Mapping[str, MethodParameter]] = {}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Build what follows from the declarations; a constructor written by hand is left alone."""
        super().__init_subclass__(**options)
        inherited = _parameters(cls.__mro__[1:])
        declared = {}
        for name, annotation in inspect.get_annotations(cls).items():
            value = vars(cls).get(name)
            if isinstance(value, MethodParameter):
                declared[name] = replace(value, annotation=str(annotation))
            elif name in inherited and name in vars(cls):
                declared[name] = replace(inherited[name], default=value)
        for name in declared:
            delattr(cls, name)
        cls._declared = declared
        parameters = _parameters(cls.__mro__)
        cls._parameter_constraints = {name: one.constraints for name, one in parameters.items()}
        if "__init__" not in vars(cls):
            fields = [
                (name, one.annotation, field(default=one.default, kw_only=one.kw_only))
                for name, one in parameters.items()
            ]
            cls.__init__ = make_dataclass(cls.__name__, fields).__init__  # type: ignore[method-assign,misc]
        if vars(cls).get("__doc__"):
            cls.__doc__ = f"{inspect.getdoc(cls)}\n\nArgs:\n{_argument_lines(parameters)}\n"


def _parameters(classes: tuple[type, ...]) -> dict[str, MethodParameter]:
    """Return the parameters of these classes: positional ones first, then those of the nearest class."""
    found: dict[str, MethodParameter] = {}
    for kind in classes:
        for name, one in vars(kind).get("_declared", {}).items():
            found.setdefault(name, one)
    return dict(sorted(found.items(), key=lambda item: item[1].kw_only))


def _argument_lines(parameters: Mapping[str, MethodParameter]) -> str:
    return "\n".join(
        textwrap.fill(f"{name}: {one.meaning}.", DOC_WIDTH, initial_indent=4 * " ", subsequent_indent=8 * " ")
        for name, one in parameters.items()
    )


# ---- What a parameter may be -----------------------------------------------------------------------------------------

POSITIVE = Interval(Real, 0.0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0.0, None, closed="left")
SHARE = Interval(Real, 0.0, 1.0, closed="right")
SHARE_BELOW_ONE = Interval(Real, 0.0, 1.0, closed="left")


def whole(least: int, most: int | None = None) -> Any:
    """Allow whole numbers from ``least`` on, up to ``most`` where that is given."""
    return Interval(Integral, least, most, closed="left" if most is None else "both")


def one_of(*names: str) -> Any:
    """Allow these strings."""
    return StrOptions(set(names))


# ---- Parameters of several methods -----------------------------------------------------------------------------------

LOSS_WEIGHT = parameter(1.0, "weight of the loss", POSITIVE)
LOSS = parameter(
    "squared_hinge", 'loss of the margin, ``"squared_hinge"`` or ``"hinge"``', one_of("hinge", "squared_hinge")
)
N_INIT = parameter(1, "number of starts; the best result wins", whole(1))
MAX_ITER = parameter(100, "most iterations of a descent", whole(1))
TOL = parameter(
    1e-3, "a descent stops when ten iterations together improve the objective by less than this share", NOT_NEGATIVE
)
BLOCK_ROWS = parameter(None, "rows per block; ``None`` takes as many as fit in about 1 GiB", whole(1))
MAX_SECONDS = parameter(
    None, "stop after this time; a result that was cut short depends on the speed of the computer", POSITIVE
)
