"""``<name>_scores`` and ``<name>_predict`` in integer C; a single score never leaves its register.

With early exit ``<name>_predict`` stops once the remaining vectors cannot change the label: it is always the full one.
"""

from __future__ import annotations

from sparsegen.targets._decision import decision_lines
from sparsegen.targets._integer_loops import IntegerBody

REST = "in units of 65536: the most that all later rows can change"
STRIDE = 4  # vectors between two looks at the lead of several classes, which is not free


def functions(name: str, body: IntegerBody) -> list[str]:
    """Return both functions, and those of their own that they call."""
    features = f"const {body.input_type} *x"
    if body.program.n_outputs == 1:
        return [
            f"static int32_t {name}_score({features})",
            *_braced(body.lines()),
            "",
            f"void {name}_scores({features}, int32_t *scores)",
            *_braced([f"    scores[0] = {name}_score(x);"]),
            "",
            f"int {name}_predict({features})",
            *_braced(_binary_stop(body) if body.early_exit else [f"    return {name}_score(x) > 0 ? 1 : 0;"]),
        ]
    return [
        *(_lead(name, body.program.n_outputs) if body.early_exit else []),
        f"void {name}_scores({features}, int32_t *scores)",
        *_braced(body.lines()),
        "",
        f"int {name}_predict({features})",
        *_braced(
            [
                f"    int32_t scores[{body.program.n_outputs}];",
                *(_stop(name, body) if body.early_exit else decision_lines(name, body.program.n_outputs)),
            ]
        ),
    ]


def _braced(lines: list[str]) -> list[str]:
    return ["{", *lines, "}"]


def _binary_stop(body: IntegerBody) -> list[str]:
    """Return the loop that ends where the rest cannot change the sign."""
    decided = "score > 0 ? (uint32_t)score >> 16 > r->rest[0] : (uint32_t)-score >> 16 > r->rest[1]"
    return body.lines(stop=[f"        if ({decided}) {{", "            break;", "        }"])


def _stop(name: str, body: IntegerBody) -> list[str]:
    """Return the loop that ends where no other class can overtake, and the choice of the largest score so far."""
    stop = [
        "        ++seen;",
        f"        if (seen % {STRIDE} == 0 && {name}_lead(scores) > r->rest[0]) {{",
        "            break;",
        "        }",
    ]
    decision = decision_lines(name, body.program.n_outputs)
    chosen = decision[decision.index(f"    {name}_scores(x, scores);") + 1 :]
    return ["    unsigned seen = 0u;", "    int best = 0;", *body.lines(stop=stop), *chosen]


def _lead(name: str, n_outputs: int) -> list[str]:
    return [
        "/* How far the largest score is ahead of the next, in units of 65536, rounded down. */",
        f"static uint16_t {name}_lead(const int32_t *scores)",
        "{",
        "    int32_t first = scores[0] > scores[1] ? scores[0] : scores[1];",
        "    int32_t second = scores[0] > scores[1] ? scores[1] : scores[0];",
        "    int k;",
        "",
        f"    for (k = 2; k < {n_outputs}; ++k) {{",
        "        if (scores[k] > first) {",
        "            second = first;",
        "            first = scores[k];",
        "        } else if (scores[k] > second) {",
        "            second = scores[k];",
        "        }",
        "    }",
        "    return (uint16_t)(((uint32_t)first - (uint32_t)second) >> 16);",
        "}",
        "",
    ]
