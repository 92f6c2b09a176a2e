"""Polynomial kernel, ``(gamma * x . z + coef0)^degree``, with scikit-learn's parameters."""

from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import DOT, Param

POLY = KERNELS.register("poly")(
    Kernel(
        "poly",
        "(gamma * x . z + coef0)^degree",
        (Param("gamma") * DOT + Param("coef0")) ** Param("degree"),
        {
            "gamma": Parameter("scale of the dot product", 1.0, positive=True),
            "coef0": Parameter("constant term", 1.0, minimum=0.0),
            "degree": Parameter("power", 3.0, minimum=1.0, maximum=64.0, whole=True),
        },
        scale_parameter="gamma",
        libsvm_name="poly",
    )
)
