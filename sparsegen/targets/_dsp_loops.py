"""Inner loops for Cortex-M4, M7, M33 and their like: two 16-bit products in one SMLAD, through the ACLE intrinsics.

Each has the portable form beside it, so that the file compiles everywhere. Indices are at most 32767, so that a signed
product of halves is the unsigned one.
"""

from __future__ import annotations

from collections.abc import Sequence

DSP_LEAST = {"q7": 4, "q15": 2}  # features that fill one SMLAD (q15) or two (q7, whose bytes are widened)
WORD_STEP = {"q7": 4, "q15": 8}


def either(special: Sequence[str], portable: Sequence[str], macro: str = "__ARM_FEATURE_DSP") -> list[str]:
    """Return both forms, for the compiler to choose: the special one where it defines ``macro``."""
    return [f"#if defined({macro})", *special, "#else", *portable, "#endif"]


def dsp_squares(name: str, dtype: str, n: int, source: str, written_out: int) -> list[str]:
    """Return the lines that sum the squares of n features, and for q7 widen them to 16 bits."""
    size, kind = DSP_LEAST[dtype], "unsigned" if dtype == "q7" else "uint32_t"
    whole = n - n % size
    tail = [f"    squares += ({kind}){source}[{j}] * {source}[{j}];" for j in range(whole, n)]

    def square(feature: str) -> str:
        word = f"{name.upper()}_LOOSE_WORD({source} + {feature})"
        if dtype == "q15":
            return f"squares = {name}_square({word}, squares);"
        return f"squares = {name}_widen((uint32_t){word}, pairs + j / 4, squares);"

    if dtype == "q15" and n <= written_out:  # the loop keeps `pairs` one array, which clang would take apart
        return [*(f"    {square(str(j))}" for j in range(0, whole, size)), *tail]
    return [f"    for (j = 0; j < {whole}; j += {size}) {{", f"        {square('j')}", "    }", *tail]


def dsp_products(name: str, dtype: str, n: int, written_out: int) -> list[str]:
    """Return the lines that add the products of n features with a vector's values to ``dot``."""
    size = DSP_LEAST[dtype]
    whole = n - n % size
    pad, kind = "        ", "unsigned" if dtype == "q7" else "uint32_t"
    if n <= written_out:
        lines = [pad + line for j in range(0, whole, size) for line in _product(name, dtype, str(j), f"r->at + {j}")]
        return [*lines, *(f"{pad}dot += ({kind})f[{j}] * r->at[{j}];" for j in range(whole, n))]
    step = WORD_STEP[dtype]
    stepped = whole - whole % step
    lines = [f"{pad}for (j = 0; j < {stepped}; j += {step}) {{"]
    for i in range(0, step, size):
        lines += [f"{pad}    {line}" for line in _product(name, dtype, f"j + {i}" if i else "j", f"v + {i}")]
    lines += [f"{pad}    v += {step};", f"{pad}}}"]
    for i in range(0, whole - stepped, size):
        lines += [pad + line for line in _product(name, dtype, str(stepped + i), f"v + {i}")]
    return [*lines, *(f"{pad}dot += ({kind})f[{j}] * v[{j - stepped}];" for j in range(whole, n))]


def _product(name: str, dtype: str, feature: str, vector: str) -> list[str]:
    upper = name.upper()
    if dtype == "q15":
        x, v = f"{upper}_LOOSE_WORD(f + {feature})", f"{upper}_WORD({vector})"
        return [f"dot = (uint32_t)__smlad({x}, {v}, (int32_t)dot);"]
    place = str(int(feature) // 4) if feature.isdigit() else "j / 4"
    return [f"dot = {name}_four(pairs[{place}], (uint32_t){upper}_WORD({vector}), dot);"]


def dsp_helper(name: str, dtype: str) -> list[str]:
    """Return the functions that the lines above call."""
    upper = name.upper()
    if dtype == "q15":
        return [
            f"static inline uint32_t {name}_square(int32_t two, uint32_t sum)",
            "{",
            "    return (uint32_t)__smlad(two, two, (int32_t)sum);",
            "}",
        ]
    return [
        "/* Compilers make a UXTB16 of these; the intrinsic takes a signed word here and an unsigned one there. */",
        f"#define {upper}_EVEN(four) (int32_t)((four) & 0x00ff00ffu)",
        f"#define {upper}_ODD(four) (int32_t)((four) >> 8 & 0x00ff00ffu)",
        "",
        f"static inline uint32_t {name}_widen(uint32_t four, volatile uint64_t *pair, uint32_t sum)",
        "{",
        f"    const int32_t even = {upper}_EVEN(four);",
        f"    const int32_t odd = {upper}_ODD(four);",
        "",
        "    *pair = (uint32_t)even | (uint64_t)(uint32_t)odd << 32;",
        "    return (uint32_t)__smlad(odd, odd, __smlad(even, even, (int32_t)sum));",
        "}",
        "",
        f"static inline uint32_t {name}_four(uint64_t pair, uint32_t four, uint32_t sum)",
        "{",
        f"    const int32_t even = __smlad((int32_t)pair, {upper}_EVEN(four), (int32_t)sum);",
        "",
        f"    return (uint32_t)__smlad((int32_t)(pair >> 32), {upper}_ODD(four), even);",
        "}",
    ]
