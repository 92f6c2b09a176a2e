"""Kernels, one per file: a name, its parameters and its expression. Gram blocks and gradients follow from it."""

from __future__ import annotations

from sparsegen.kernels.bound import BoundKernel, GramBlock
from sparsegen.kernels.kernel import Kernel
from sparsegen.kernels.parameter import Parameter
from sparsegen.registry import Registry

__all__ = ["KERNELS", "BoundKernel", "GramBlock", "Kernel", "Parameter"]

KERNELS: Registry[Kernel] = Registry("kernel", __name__)
