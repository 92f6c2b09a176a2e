"""Matérn kernel of smoothness 3/2, ``(1 + s) * exp(-s)`` with ``s = sqrt(3 * gamma * |x - z|^2)``."""

from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import SQDIST, Exp, Param, Sqrt

S = Sqrt(3 * Param("gamma") * SQDIST)

MATERN32 = KERNELS.register("matern32")(
    Kernel(
        "matern32",
        "(1 + s) * exp(-s), s = sqrt(3 * gamma * |x - z|^2)",
        (1 + S) * Exp(-S),
        {"gamma": Parameter("inverse squared width", 1.0, positive=True)},
        scale_parameter="gamma",
    )
)
