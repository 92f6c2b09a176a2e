"""The most stack that generated C takes, for a header to state before any compiler has seen the C.

Arrays are exact. What compilers add to them (saved registers, intermediate values, return addresses, and the frames of
the libraries that compute floats without an FPU) has a bound for all models, since sums of more than 16 terms are
loops. benchmarks/trust/stack.py compares the bounds with compilers and devices.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.targets.card import Lines


@dataclass(frozen=True)
class Added:
    """The most bytes that gcc and clang add to the arrays at one level, on Cortex-M, RV32 and AVR."""

    level: str
    predict: int
    selftest: int


FLOAT = (Added("-Os", 264, 352), Added("-O2", 320, 432))
INTEGER = (Added("-Os", 128, 160), Added("-O2", 216, 248))
READING_FLOATS = 48
"""What taking floats apart adds to integer programs."""
PROJECTING = 120
"""What the functions that project features add to integer programs."""
WEIGHING = 96
"""What the functions that make probabilities of scores add."""
TESTED = "in tests with gcc and clang for Cortex-M, RV32 and AVR"


def float_stack(buffers: int, scores: int, row: int, probabilities: int) -> Lines:
    """Return the bounds of a float program, by the bytes of its buffers, its scores, a row and its probabilities.

    The self-test predicts, with a row, scores and probabilities of its own.
    """
    predict = buffers + scores
    return _lines(predict, row + scores + probabilities + predict, FLOAT, weighs=_weighs(probabilities))


def integer_stack(
    buffers: int, scores: int, row: int, probabilities: int, *, is_binary: bool, reads_floats: bool, projects: bool
) -> Lines:
    """Return the bounds of an integer program; a binary prediction needs no array for its score.

    The self-test computes scores and probabilities, with a row, scores and probabilities of its own.
    """
    calls = (READING_FLOATS if reads_floats else 0) + (PROJECTING if projects else 0)
    predict = buffers + (0 if is_binary else scores)
    selftest = row + scores + probabilities + (predict if probabilities else buffers)
    return _lines(predict, selftest, INTEGER, calls, weighs=_weighs(probabilities))


def _weighs(probabilities: int) -> int | None:
    """Return what ``predict_or_reject`` and what it calls add to a prediction; ``None`` where they do not exist."""
    return WEIGHING + probabilities if probabilities else None


def _lines(
    predict: int, selftest: int, added: tuple[Added, ...], calls: int = 0, *, weighs: int | None = None
) -> Lines:
    tested = selftest + calls + (0 if weighs is None else WEIGHING)
    lines = [
        (
            f"stack at {a.level}",
            f"at most {predict + a.predict + calls} bytes for a prediction, {tested + a.selftest} for "
            f"the self-test, {TESTED}",
        )
        for a in added
    ]
    if weighs is not None:
        most = ", ".join(f"{predict + a.predict + calls + weighs} bytes at {a.level}" for a in added)
        lines.append(("stack for probabilities", f"at most {most}, {TESTED}"))
    return tuple(lines)
