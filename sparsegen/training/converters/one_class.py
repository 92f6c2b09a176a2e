"""LIBSVM's one-class machine: what scikit-learn calls 1 is normal, and what it calls -1 is an anomaly."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.svm import OneClassSVM

from sparsegen.model import SparseModel, Transform
from sparsegen.model.task import ANOMALY, ANOMALY_CLASSES
from sparsegen.training.converters import CONVERTERS, Converter
from sparsegen.training.converters.svc import kernel_of
from sparsegen.training.fitted import dense, name_of, parameters_of
from sparsegen.version import __version__


def _one_class(machine: Any) -> SparseModel:
    vectors = dense(machine.support_vectors_)
    return SparseModel(
        vectors=vectors,
        coef=dense(machine.dual_coef_)[:, None, :],
        intercept=machine.intercept_,
        kernels=(kernel_of(machine),),
        transform=Transform.identity(vectors.shape[1]),
        classes=ANOMALY_CLASSES,
        task=ANOMALY,
        card={
            "method": f"sklearn {name_of(machine)}",
            "parameters": parameters_of(machine),
            "sparsegen": __version__,
            "scikit-learn": sklearn.__version__,
        },
    )


CONVERTERS.register("one_class")(Converter((OneClassSVM,), _one_class))
