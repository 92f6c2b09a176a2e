"""Linear kernel, ``x . z``: exports collapse its vectors to one per class."""

from sparsegen.kernels import KERNELS, Kernel
from sparsegen.kernels.expression import DOT

LINEAR = KERNELS.register("linear")(Kernel("linear", "x . z", DOT, libsvm_name="linear"))
