"""What a graph gives for each row: one function per output, which adds the output's nodes and declares it."""

from __future__ import annotations

import numpy as np

from sparsegen.lowering.probabilities import FloatProbabilities
from sparsegen.model import VOTES, SparseModel
from sparsegen.model.decision import pairs
from sparsegen.model.task import ANOMALY
from sparsegen.targets.onnx.graph import Graph

SCORES = "scores"
"""The tensor of scores, a column per class, from which every other output is made."""
VALUE = "value"
PROBABILITIES = "probabilities"
PREDICT_OR_REJECT = "predict_or_reject"


def add_label(graph: Graph, model: SparseModel, *, integers: bool) -> None:
    """Add the class of the largest score, or with the most votes, or its index; the first wins on ties."""
    counted, doc = _counted(graph, model)
    is_index = integers or model.classes == tuple(range(len(model.classes)))
    if is_index:
        graph.first_largest(counted, output="label", doc=doc)
    else:
        first = graph.first_largest(counted, output="class_index", doc=doc)
        graph.node("Gather", graph.labels("classes", model.classes), first, output="label", axis=0)
    is_text = isinstance(model.classes[0], str) and not is_index
    meaning = "index of the class among the metadata's classes" if integers else "the class"
    if model.task == ANOMALY:
        meaning += ": normal or anomaly" if not integers else ": 0 is an anomaly, 1 is normal"
    graph.output("label", np.dtype(np.object_ if is_text else np.int64), doc=meaning)


def add_value(graph: Graph) -> None:
    """Add the value of a regression, which is its only score."""
    graph.over_axes("Squeeze", SCORES, [1], output=VALUE)
    graph.output(VALUE, np.dtype(np.float32), doc="the value, in the unit of the training targets")


def _counted(graph: Graph, model: SparseModel) -> tuple[str, str]:
    """Return the tensor whose largest column is the class, and what that is."""
    if model.decision != VOTES:
        return SCORES, "the first of the largest scores"
    first, second = (np.eye(len(model.classes))[classes] for classes in pairs(model.n_outputs))
    positive = graph.node("Greater", SCORES, graph.constant("zero", np.zeros(1)), output="is_for_first")
    positive = graph.node("Cast", positive, output="for_first", to=graph.float32)
    against = graph.constant("votes_of_second", second.sum(axis=0))
    votes = graph.product(positive, first - second, against, name="vote_changes", output="votes", doc="per class")
    return votes, "the first of those with the most votes"


def declare_scores(graph: Graph, model: SparseModel) -> None:
    """Make the scores an output."""
    doc, width = "a score per class; the largest is the label's", len(model.classes)
    if model.decision == VOTES:
        doc, width = "a vote per pair of classes, for the first of them where positive", model.n_outputs
    elif model.task == ANOMALY:
        doc = "the score of an anomaly, and that of normal, its negative; the larger is the label's"
    graph.output(SCORES, np.dtype(np.float32), width, doc=doc)


def add_probabilities(graph: Graph, made: FloatProbabilities) -> None:
    """Add a probability per class; two classes have opposite scores, so half the slope goes to each."""
    share = 0.5 if made.n_classes == 2 else 1.0
    slope = graph.constant("slope", np.array(share * made.calibration.slope))
    calibrated = graph.node("Mul", SCORES, slope, output="calibrated_scores")
    if made.n_classes == 2 and made.calibration.offset != 0.0:
        offset = graph.constant("offset_of_probabilities", share * made.calibration.offset * np.array([-1.0, 1.0]))
        calibrated = graph.node("Add", calibrated, offset, output="shifted_scores")
    graph.node("Softmax", calibrated, output=PROBABILITIES, doc="powers of e that add up to 1", axis=1)
    graph.output(PROBABILITIES, np.dtype(np.float32), made.n_classes, doc="a probability per class")


def add_rejection(graph: Graph, made: FloatProbabilities) -> None:
    """Add the index of the label's class, or -1 where its probability is below the confidence asked for."""
    chosen = graph.first_largest(SCORES, output="chosen_index", doc="the first of the largest scores")
    depth, ends = graph.whole_numbers("n_classes", made.n_classes), graph.constant("zero_and_one", np.array([0.0, 1.0]))
    mask = graph.node("OneHot", chosen, depth, ends, output="chosen_mask", axis=-1)
    masked = graph.node("Mul", PROBABILITIES, mask, output="chosen_probabilities")
    confidence = graph.over_axes("ReduceSum", masked, [1], output="confidence", keepdims=0)
    least = graph.constant("least_confidence", np.array(made.rejects_below))
    low = graph.node("Less", confidence, least, output="is_unsure")
    graph.node("Where", low, graph.whole_numbers("no_class", -1), chosen, output=PREDICT_OR_REJECT)
    meaning = f"index of the class, or -1 where its probability is below {made.rejects_below!r}"
    graph.output(PREDICT_OR_REJECT, np.dtype(np.int64), doc=meaning)
