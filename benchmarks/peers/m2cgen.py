"""m2cgen: an SVC as one C expression per support vector, in double."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.peers import PEERS, CPeer, PeerModel, c_export
from benchmarks.peers._problem import Problem


class M2cgen(CPeer):
    """m2cgen's C for scikit-learn's SVC."""

    name = "m2cgen"
    module = package = "m2cgen"
    measured_rows = 2

    def models(self, problem: Problem) -> Iterator[PeerModel]:
        """Return the SVC."""
        import m2cgen

        svc = problem.svc
        code = m2cgen.export_to_c(svc).encode()
        # Every number of a vector stands in the code, with an instruction of two bytes or more.
        least = 2 * svc.support_vectors_.size
        export = c_export(problem, ("m2cgen.c", "scores.c"), {"generated.c": code}, table_bytes=least)
        X = problem.scaled[1]
        yield PeerModel(f"SVC, {len(svc.support_vectors_)} vectors", export, X, svc.predict(X))


PEERS.register("m2cgen")(M2cgen())
