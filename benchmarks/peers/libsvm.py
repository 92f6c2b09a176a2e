"""LIBSVM itself: its library with a model file, which needs a heap, files and an operating system."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.peers import PEERS, CPeer, PeerModel, c_export
from benchmarks.peers._problem import Problem
from benchmarks.peers._stage import HOST


class Libsvm(CPeer):
    """LIBSVM's svm_predict, compiled as its package was."""

    name = "libsvm"
    module, package = "libsvm", "libsvm-official"
    only_device = HOST
    why_only = "needs a heap and a file system"

    def models(self, problem: Problem) -> Iterator[PeerModel]:
        """Return the machine that LIBSVM trains with the SVC's parameters."""
        from libsvm import svm, svmutil

        C, gamma = problem.svc_parameters
        train, test = problem.scaled
        machine = svmutil.svm_train(problem.train_labels, train, f"-q -c {C!r} -g {gamma!r}")
        labels = np.array(svmutil.svm_predict([], test, machine, "-q")[0], dtype=np.int64)
        library = Path(svm.libsvm._name)
        with tempfile.TemporaryDirectory(prefix="sparsegen-") as folder:
            path = Path(folder) / "machine.txt"
            svmutil.svm_save_model(str(path), machine)
            export = c_export(problem, ("libsvm.c", "scores.c"), {})
            place = f'\n#define PEER_MODEL_FILE "{path}"\n'.encode()
            export = replace(export, files={**export.files, "shape.h": export.files["shape.h"] + place})
            flags = (str(library), f"-Wl,-rpath,{library.parent}")
            yield PeerModel(f"SVC, {machine.get_nr_sv()} vectors", export, test, labels, flags)


PEERS.register("libsvm")(Libsvm())
