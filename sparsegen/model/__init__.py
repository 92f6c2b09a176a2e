"""SparseModel, the one thing every stage after training reads; its file, its predictions, drawings of its vectors."""

from sparsegen.model.decision import LARGEST, VALUE, VOTES, class_indices
from sparsegen.model.sparse_model import Calibration, Label, SparseModel
from sparsegen.model.transform import Transform

__all__ = ["LARGEST", "VALUE", "VOTES", "Calibration", "Label", "SparseModel", "Transform", "class_indices"]
