"""Cauchy kernel, ``1 / (1 + gamma * |x - z|^2)``: heavier tails than the Gaussian, and no exponential on the device."""

from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import SQDIST, Param

CAUCHY = KERNELS.register("cauchy")(
    Kernel(
        "cauchy",
        "1 / (1 + gamma * |x - z|^2)",
        1 / (1 + Param("gamma") * SQDIST),
        {"gamma": Parameter("inverse squared width", 1.0, positive=True)},
        scale_parameter="gamma",
    )
)
