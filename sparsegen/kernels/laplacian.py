"""Laplacian kernel, ``exp(-gamma * |x - z|_1)``: no multiplication per feature on the device."""

from sparsegen.expression import L1DIST, Exp, Param
from sparsegen.kernels import Kernel, Parameter
from sparsegen.registry import KERNELS

LAPLACIAN = KERNELS.register("laplacian")(
    Kernel(
        "laplacian",
        "exp(-gamma * |x - z|_1)",
        Exp(-(Param("gamma") * L1DIST)),
        {"gamma": Parameter("inverse width", 1.0, positive=True)},
    )
)
