"""SparseModel, the one thing every stage after training reads; its file, its predictions, drawings of its vectors."""

from sparsegen.model.sparse_model import Calibration, Label, SparseModel, class_indices
from sparsegen.model.transform import Transform

__all__ = ["Calibration", "Label", "SparseModel", "Transform", "class_indices"]
