"""micromlgen: an SVC as one call per support vector, its features as variable arguments, in double."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.peers import PEERS, CPeer, PeerModel, c_export
from benchmarks.peers._problem import Problem

CSTDARG = b"#include <stdarg.h>\n"  # avr-g++ has no cstdarg


class Micromlgen(CPeer):
    """micromlgen's C++ for scikit-learn's SVC."""

    name = "micromlgen"
    module = package = "micromlgen"
    measured_rows = 2

    def models(self, problem: Problem) -> Iterator[PeerModel]:
        """Return the SVC."""
        from micromlgen import port

        svc = problem.svc
        files = {"generated.h": port(svc).encode(), "cstdarg": CSTDARG}
        least = 2 * svc.support_vectors_.size
        export = c_export(problem, ("micromlgen.cpp",), files, table_bytes=least)
        X = problem.scaled[1]
        yield PeerModel(f"SVC, {len(svc.support_vectors_)} vectors", export, X, svc.predict(X))


PEERS.register("micromlgen")(Micromlgen())
