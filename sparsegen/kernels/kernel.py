"""Kernel families: a name, an expression and its parameters, checked when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparsegen.errors import OptionError
from sparsegen.kernels.bases import BASES
from sparsegen.kernels.bound import BoundKernel
from sparsegen.kernels.contract import check_expression, check_values
from sparsegen.kernels.expression import Expr, base_of, bind
from sparsegen.kernels.parameter import Parameter


@dataclass(frozen=True)
class Kernel:
    """A kernel family; :meth:`bind` gives it parameters."""

    name: str
    formula: str
    expression: Expr
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    scale_parameter: str | None = None
    """The parameter that grows as the data shrinks, which ``gamma="scale"`` and ``"auto"`` choose."""
    libsvm_name: str | None = None
    """What LIBSVM, and so scikit-learn's SVC, calls this kernel; ``None`` if it has no such kernel."""

    def __post_init__(self) -> None:
        check_expression(self.name, self.expression, self.parameters, self.scale_parameter)
        check_values(self.name, self.bind().expression)

    @property
    def is_radial(self) -> bool:
        """Whether it depends on a distance only."""
        return BASES[base_of(self.expression).name].is_distance

    def bind(self, **params: float) -> BoundKernel:
        """Return the kernel with its parameters checked; missing ones take their default."""
        unknown = set(params) - set(self.parameters)
        if unknown:
            named = ", ".join(ascii(name)[1:-1][:40] for name in sorted(unknown)[:8])
            raise OptionError(f"kernel {self.name!r} has no parameter {named}")
        values = {name: p.check(name, params.get(name, p.default)) for name, p in self.parameters.items()}
        return BoundKernel(self.name, tuple(values.items()), bind(self.expression, values))
