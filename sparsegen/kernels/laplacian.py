"""Laplacian kernel, ``exp(-gamma * |x - z|_1)``: no multiplication per feature on the device."""

from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import L1DIST, Exp, Param

LAPLACIAN = KERNELS.register("laplacian")(
    Kernel(
        "laplacian",
        "exp(-gamma * |x - z|_1)",
        Exp(-(Param("gamma") * L1DIST)),
        {"gamma": Parameter("inverse width", 1.0, positive=True)},
        scale_parameter="gamma",
    )
)
