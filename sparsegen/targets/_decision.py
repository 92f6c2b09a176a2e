"""From scores to a class index, in C: the same words and lines for every number format."""

from __future__ import annotations


def decision_lines(name: str, n_outputs: int) -> list[str]:
    """Return the rest of ``<name>_predict`` for several classes; its array ``scores`` is declared."""
    return [
        "    int best = 0;",
        "    int k;",
        "",
        f"    {name}_scores(x, scores);",
        f"    for (k = 1; k < {n_outputs}; ++k) {{",
        "        if (scores[k] > scores[best]) {",
        "            best = k;",
        "        }",
        "    }",
        "    return best;",
    ]


def score_meaning(n_outputs: int) -> str:
    """Return how scores decide, as a sentence."""
    return "Positive means class 1." if n_outputs == 1 else "The largest wins."


def index_meaning(n_outputs: int) -> str:
    """Return what happens on a tie, as a sentence."""
    return "A score of 0 is class 0." if n_outputs == 1 else "The first wins on ties."
