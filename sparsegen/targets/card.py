"""The model card that heads an export: what the model is, what it costs and how good it is."""

from __future__ import annotations

from collections.abc import Sequence

from sparsegen.lowering.program import Program
from sparsegen.model import SparseModel

MAX_NAMED_FEATURES = 32


def card_lines(
    model: SparseModel,
    n_vectors: int,
    input_stage: str,
    number_format: str,
    table_bytes: int,
    stack: Sequence[tuple[str, str]] = (),
) -> list[tuple[str, str]]:
    """Return the card as (key, value) lines; values may hold untrusted text and must be escaped when printed.

    ``stack`` holds the lines about the stack of C; a graph has none.
    """
    card = model.card
    kernels = "; ".join(
        f"{k.name}({', '.join(f'{name}={value:g}' for name, value in k.params)})" for k in model.kernels
    )
    lines = [
        ("method", str(card.get("method", "unknown"))),
        ("kernel", kernels),
        ("size", f"{n_vectors} vectors, {model.n_features} features, {len(model.classes)} classes"),
        ("input", input_stage),
        ("number format", number_format),
        ("flash", f"{table_bytes} bytes of tables, plus code"),
    ]
    if stack:
        lines += [("RAM", f"stack only; on AVR also {_label_bytes(model)} bytes of label text"), *stack]
    accuracy = card.get("accuracy")
    if isinstance(accuracy, int | float):
        lines.append(("accuracy", f"{100 * accuracy:.2f} % on {card.get('test_rows', '?')} test rows"))
    lines.append(("model", f"sha256 {model.sha256[:16]}"))
    names = card.get("feature_names")
    generated = [f"x{i}" for i in range(model.n_features)]
    if isinstance(names, list) and len(names) == model.n_features <= MAX_NAMED_FEATURES and names != generated:
        lines += [(f"x[{i}]", str(name)) for i, name in enumerate(names)]
    return lines


def _label_bytes(model: SparseModel) -> int:
    """Return the bytes of all labels and of the empty one: text that AVR programs copy to RAM when they start."""
    return sum(len(str(label).encode()) + 1 for label in model.classes) + 1


def float_card_lines(
    model: SparseModel, program: Program, table_bytes: int, stack: Sequence[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    """Return the card of a float32 export."""
    vectors = sum(len(part.vectors) for part in program.parts)
    return card_lines(model, vectors, _input_stage(program), "float32", table_bytes, stack)


def _input_stage(program: Program) -> str:
    if program.projection is not None:
        return f"raw features, projected to {len(program.projection)} values"
    return "raw features" if program.offset is None else "raw features, scaled into a buffer"
