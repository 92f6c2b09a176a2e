"""What ``--dtype`` and ``--input`` mean."""

from __future__ import annotations

from sparsegen.errors import OptionError, nearest
from sparsegen.lowering.formats import FORMATS, INPUT_KINDS, Format, IntegerFormat


def make_formats(dtypes: str, reads: str, *, early_exit: bool = False) -> list[Format]:
    """Return the formats that comma-separated dtypes name."""
    names = list(dict.fromkeys(name.strip() for name in dtypes.split(",") if name.strip()))
    if not names:
        raise OptionError(f"--dtype names no number format; choose from: {', '.join(FORMATS)}")
    for name in names:
        if name not in FORMATS:
            known = ", ".join(FORMATS)
            raise OptionError(f"--dtype {name!r} is unknown{nearest(name, FORMATS)}; choose from: {known}")
    if reads not in INPUT_KINDS:
        known = ", ".join(INPUT_KINDS)
        raise OptionError(f"--input {reads!r} is unknown{nearest(reads, INPUT_KINDS)}; choose from: {known}")
    has_floats = not all(isinstance(FORMATS[name], IntegerFormat) for name in names)
    if has_floats and (not INPUT_KINDS[reads].is_float or early_exit):
        raise OptionError("float32 exports read f32 and never stop early; choose --dtype q15 or q7 for that")
    return [Format(name, reads, early_exit=early_exit) for name in names]
