"""Linear kernel, ``x . z``: exports collapse its vectors to one per class."""

from sparsegen.expression import DOT
from sparsegen.kernels import Kernel
from sparsegen.registry import KERNELS

LINEAR = KERNELS.register("linear")(Kernel("linear", "x . z", DOT))
