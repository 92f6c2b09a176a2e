"""The kernel value of one vector in AVR assembly, for the portable C beside it to be compared with.

avr-gcc computes with 32 bits where 8 or 16 are enough and addresses flash anew for every byte: by hand a feature takes
10 cycles instead of 50 (q7), 30 instead of 60 (q15). The registers, low byte first::

    X       the features            Z       the row in flash, then the table of powers
    dot     the products' sum       d       norm + squares - 2 dot, then the exponent, then the value
    a b c e one feature (a, b) and one of the vector's (c, e); for q7 only a and c
"""

from __future__ import annotations

from sparsegen.lowering.integer_program import FRACTION_BITS, IntegerProgram

STEP = {"q7": 8, "q15": 2}
THREE_BYTES = 257  # products of bytes whose sum fits 24 bits
LAST_RIGHT = 4  # bits that are shifted to the right; more of them go to the left and a byte to the right
MAX_COUNT = 255  # of a loop that counts in one register


def has_avr_form(program: IntegerProgram, n: int) -> bool:
    """Whether the assembly covers this program: others use the portable form on AVR too."""
    return program.form == "square" and program.doublings == (0,) and n // STEP[program.dtype] <= MAX_COUNT


def avr_value(name: str, program: IntegerProgram, n: int) -> list[str]:
    """Return the lines of ``<name>_value``: K of a row for n features whose squares sum up to ``squares``."""
    q7 = program.dtype == "q7"
    grid = "uint8_t" if q7 else "uint16_t"
    feature = _byte(n) if q7 else _word()
    step = STEP[program.dtype]
    code = ["clr %A[dot]", "clr %B[dot]", "clr %C[dot]", "clr %D[dot]", "clr %[zero]"]
    if n >= step:
        code += [f"ldi %[count], {n // step}", "1:", *(feature * step), "dec %[count]", "brne 1b"]
    code += [*(feature * (n % step)), *_distance(), *_exponent(program.octave - FRACTION_BITS), *_power(name)]
    text = [f'        "{line}' + r'\n\t"' for line in code]
    return [
        f"static inline int {name}_value(const {grid} *x, const {name.upper()}_ROM {grid} *at, uint32_t squares)",
        "{",
        "    uint32_t dot, d;",
        "    uint8_t a, b, c, e, zero, count;",
        "",
        "    __asm__(",
        *text,
        '        : [dot] "=&r"(dot), [d] "=&d"(d), [a] "=&d"(a), [b] "=&r"(b), [c] "=&r"(c), [e] "=&r"(e),',
        '          [zero] "=&r"(zero), [count] "=&d"(count), "+x"(x), "+z"(at)',
        f'        : [squares] "r"(squares), [powers] "i"({name}_powers)',
        '        : "r0", "memory");',
        "    return (int)d;",
        "}",
    ]


def _byte(n: int) -> list[str]:
    """Return one feature of q7: a product of bytes."""
    carry = ["adc %C[dot], %[zero]", *([] if n <= THREE_BYTES else ["adc %D[dot], %[zero]"])]
    return ["ld %[a], X+", "lpm %[c], Z+", "mul %[a], %[c]", "add %A[dot], r0", "adc %B[dot], r1", *carry]


def _word() -> list[str]:
    """Return one feature of q15: four products of bytes."""
    lines = ["ld %[a], X+", "ld %[b], X+", "lpm %[c], Z+", "lpm %[e], Z+"]
    for x, v, at in (("a", "c", 0), ("b", "e", 2), ("a", "e", 1), ("b", "c", 1)):
        bytes_ = "ABCD"[at:]
        lines += [f"mul %[{x}], %[{v}]", f"add %{bytes_[0]}[dot], r0", f"adc %{bytes_[1]}[dot], r1"]
        lines += [f"adc %{byte}[dot], %[zero]" for byte in bytes_[2:]]
    return lines


def _distance() -> list[str]:
    """Return d = norm + squares - dot - dot."""
    lines = [f"lpm %{byte}[d], Z+" for byte in "ABCD"]
    for operation, operand in (("add adc", "squares"), ("sub sbc", "dot"), ("sub sbc", "dot")):
        first, rest = operation.split()
        lines += [f"{first if byte == 'A' else rest} %{byte}[d], %{byte}[{operand}]" for byte in "ABCD"]
    return lines


def _exponent(shift: int) -> list[str]:
    """Return d >> shift, for -12 to 15; it goes to 9, with the value 0, where that exceeds 16 bits."""
    leave = ["tst %C[d]", "breq 2f", "8:", "clr %A[d]", "clr %B[d]", "rjmp 9f", "2:"]
    if shift < 0:
        up = ["tst %B[d]", "brne 8f", "mov %B[d], %A[d]", "clr %A[d]"] if shift <= -8 else []
        return ["or %C[d], %D[d]", "brne 8f", *up, *["lsl %A[d]", "rol %B[d]", "rol %C[d]"] * (-shift % 8), *leave]
    byte, rest = ["mov %A[d], %B[d]", "mov %B[d], %C[d]", "mov %C[d], %D[d]"], shift % 8
    lines = byte if shift >= 8 else ["tst %D[d]", "brne 8f"]  # d has 24 bits from here on
    if rest <= LAST_RIGHT:
        lines = lines + ["lsr %C[d]", "ror %B[d]", "ror %A[d]"] * rest
    else:  # 8 to the right and the difference to the left takes less
        lines = [*lines, "clr %D[d]", *["lsl %A[d]", "rol %B[d]", "rol %C[d]", "rol %D[d]"] * (8 - rest), *byte]
    return [*lines, *leave]


def _power(name: str) -> list[str]:
    """Return the power of a half: the interval is in the low half of d's byte B, the octave in its high one."""
    return [
        # a pair of neighbours in the table: c:C above, b:e below
        "mov %[a], %B[d]",
        "andi %[a], 15",
        "lsl %[a]",
        "ldi r30, lo8(%[powers])",
        "ldi r31, hi8(%[powers])",
        "add r30, %[a]",
        "adc r31, %[zero]",
        "lpm %C[d], Z+",
        "lpm %[c], Z+",
        "lpm %[e], Z+",
        "lpm %[b], Z",
        # fall = (above - below) * place >> 8, in r1:r0
        "mov %A[dot], %C[d]",
        "mov %B[dot], %[c]",
        "sub %A[dot], %[e]",
        "sbc %B[dot], %[b]",
        "mul %A[dot], %A[d]",
        "mov %[e], r1",
        "mul %B[dot], %A[d]",
        "add r0, %[e]",
        "adc r1, %[zero]",
        "sub %C[d], r0",
        "sbc %[c], r1",
        "mov %A[d], %C[d]",
        # (above - fall) >> octave, a whole byte first
        "swap %B[d]",
        "sbrs %B[d], 3",
        "rjmp 3f",
        "mov %A[d], %[c]",
        "clr %[c]",
        "3:",
        "andi %B[d], 7",
        "breq 5f",
        "4:",
        "lsr %[c]",
        "ror %A[d]",
        "dec %B[d]",
        "brne 4b",
        "5:",
        "mov %B[d], %[c]",
        "9:",
        "clr r1",
    ]
