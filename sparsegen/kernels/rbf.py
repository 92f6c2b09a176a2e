"""Gaussian kernel, ``exp(-gamma * |x - z|^2)`` [W05, eq. 36]."""

from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import SQDIST, Exp, Param

RBF = KERNELS.register("rbf")(
    Kernel(
        "rbf",
        "exp(-gamma * |x - z|^2)",
        Exp(-(Param("gamma") * SQDIST)),
        {"gamma": Parameter("inverse squared width", 1.0, positive=True)},
        scale_parameter="gamma",
        libsvm_name="rbf",
    )
)
