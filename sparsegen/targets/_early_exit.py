"""``<name>_predict`` that stops once the remaining vectors cannot change the label: it is always the full one."""

from __future__ import annotations

from sparsegen.targets._decision import decision_lines
from sparsegen.targets._integer_loops import IntegerBody

REST = "in units of 65536: the most that all later rows can change"
STRIDE = 4  # vectors between two looks at the lead of several classes, which is not free


def early_exit_functions(name: str, body: IntegerBody, features: str) -> list[str]:
    """Return ``<name>_scores``, which never stops early, and ``<name>_predict``, which may."""
    return _binary(name, body, features) if body.program.n_outputs == 1 else _several(name, body, features)


def _binary(name: str, body: IntegerBody, features: str) -> list[str]:
    stop = [
        "        if (score > 0 ? (uint32_t)score >> 16 > r->rest[0] : (uint32_t)-score >> 16 > r->rest[1]) {",
        "            break;",
        "        }",
    ]
    return [
        f"static int32_t {name}_score({features})",
        "{",
        *body.lines(),
        "}",
        "",
        f"void {name}_scores({features}, int32_t *scores)",
        "{",
        f"    scores[0] = {name}_score(x);",
        "}",
        "",
        f"int {name}_predict({features})",
        "{",
        *body.lines(stop=stop),
        "}",
    ]


def _several(name: str, body: IntegerBody, features: str) -> list[str]:
    n = body.program.n_outputs
    stop = [
        "        ++seen;",
        f"        if (seen % {STRIDE} == 0 && {name}_lead(scores) > r->rest[0]) {{",
        "            break;",
        "        }",
    ]
    # The loop is that of <name>_scores with the stop in it; what follows picks the largest score so far.
    full = body.lines()
    stopping = body.lines(stop=stop)
    decision = [line for line in decision_lines(name, n) if f"{name}_scores" not in line]
    declared = [line for line in decision if line.startswith("    int ") and line != "    int k;"]
    return [
        "/* How far the largest score is ahead of the next, in units of 65536, rounded down. */",
        f"static uint16_t {name}_lead(const int32_t *scores)",
        "{",
        "    int32_t first = scores[0] > scores[1] ? scores[0] : scores[1];",
        "    int32_t second = scores[0] > scores[1] ? scores[1] : scores[0];",
        "    int k;",
        "",
        f"    for (k = 2; k < {n}; ++k) {{",
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
        f"void {name}_scores({features}, int32_t *scores)",
        "{",
        *full,
        "}",
        "",
        f"int {name}_predict({features})",
        "{",
        f"    int32_t scores[{n}];",
        "    unsigned seen = 0u;",
        *declared,
        *stopping,
        *[line for line in decision if line and line not in (*declared, "    int k;")],
        "}",
    ]
