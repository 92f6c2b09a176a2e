"""SparseModel, the one thing every stage after training reads; its file; drawings of its vectors."""

from sparsegen.model.sparse_model import Calibration, Label, SparseModel, Transform

__all__ = ["Calibration", "Label", "SparseModel", "Transform"]
