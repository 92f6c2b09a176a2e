"""Identifiers of classes: every label gets one of its own, whatever it holds, and no other model's macro has it."""

from __future__ import annotations

import re
import string
from dataclasses import replace

import pytest
from golden_models import EVERY, INTEGER, model, rbf
from hypothesis import given
from hypothesis import strategies as st
from wrapped import HOSTILE

from sparsegen.lowering.formats import Format
from sparsegen.model import Calibration
from sparsegen.targets import TARGETS
from sparsegen.targets.class_names import MACRO_WORDS, MAX_SIGNIFICANT, constants, variants


@pytest.mark.parametrize(
    ("labels", "names", "spelled"),
    [
        (("left", "up & down"), ["LEFT", "UP_DOWN"], ["Left", "UpDown"]),
        ((-1, 1), ["MINUS_1", "1"], ["Minus1", "Class1"]),
        (("a-b", "a b", "c"), ["A_B_0", "A_B_1", "C"], ["ABN0", "ABN1", "C"]),
        (("left", "Left", "LEFT_0"), ["LEFT_0", "LEFT_1", "LEFT_0_2"], ["LeftN0", "LeftN1", "Left0"]),
        (("größer", "漢字", "字"), ["GR_ER", "UNNAMED_1", "UNNAMED_2"], ["GrEr", "UnnamedN1", "UnnamedN2"]),
        (("features", "self"), ["FEATURES_0", "SELF"], ["Features", "SelfN1"]),
        (("two classes", "__x__"), ["TWO_CLASSES_0", "X"], ["TwoClasses", "X"]),
        (("Class1", "1"), ["CLASS1", "1"], ["Class1N0", "Class1N1"]),
    ],
)
def test_names_are_made_of_the_labels_words(labels, names, spelled):
    assert constants(labels, "M") == [f"M_CLASS_{name}" for name in names]
    assert variants(labels) == spelled


NEAR = st.text(alphabet="aA1_-N Ü", min_size=1, max_size=4)


@given(
    st.one_of(
        st.lists(st.one_of(NEAR, st.text(min_size=1, max_size=80)), min_size=2, max_size=12, unique=True),
        st.lists(st.integers(-12, 12), min_size=2, max_size=12, unique=True),
    ),
    st.sampled_from(["M", "X" * 40]),
)
def test_every_label_gets_an_identifier_of_its_own(labels, prefix):
    for names, plain in ((constants(labels, prefix), True), (variants(labels), False)):
        assert len(set(names)) == len(labels)
        for name in names:
            assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, re.ASCII)
            assert not plain or ("__" not in name and len(name) <= MAX_SIGNIFICANT)


def test_no_class_has_the_name_of_another_models_macro():
    """Model ``a`` may have a class ``x features``, and another model may be called ``a_class_x``."""
    exports = [TARGETS[target].export(EVERY["poly"], "m") for target in ("c", "header")]
    exports += [golden.export("m") for golden in INTEGER.values()]
    probable = replace(EVERY["binary_rbf"], calibration=Calibration("platt", 1.5))
    exports += [TARGETS["header"].export(probable, "m", Format(dtype)) for dtype in ("f32", "q7")]
    texts = [export.files[f"m.{suffix}"].decode() for export in exports for suffix in "ch"]
    macros = {macro.removeprefix("M_") for text in texts for macro in re.findall(r"#define (M_\w+)", text)}
    assert {macro.split("_")[0] for macro in macros} == MACRO_WORDS  # H_OF_m too has one of the words
    labels = [f"x {word}" for word in sorted(MACRO_WORDS)]
    for name in constants(labels, "A"):
        assert name[-1] in string.digits


@pytest.mark.parametrize("labels", [HOSTILE, ("*/", "/*"), ("a \\", "??/"), ("#define int", "'")])
def test_hostile_labels_are_only_comments_in_the_header(labels, tmp_path):
    from c_programs import any_compiler, compile_c

    files = TARGETS["c"].export(model([rbf()], 3, 3, labels), "m").files
    for path, content in files.items():
        (tmp_path / path).write_bytes(content)
    names = constants(labels, "M")
    checks = " || ".join(f"{name} != {i}" for i, name in enumerate(names))
    user = f'#include "m.h"\nint main(void)\n{{\n    const enum m_class c = {names[-1]};\n'
    checks += " || (int)c != M_CLASSES - 1 || M_UNIT != 1.0f || sizeof(m_input_t) != sizeof(m_score_t)"
    user += f"    return {checks};\n}}\n"
    (tmp_path / "user.c").write_text(user)
    flags = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wcomment", "-Werror")
    for more in (flags, ("-x", "c++", "-std=c++98", *flags[1:])):
        made = compile_c(any_compiler(), *more, tmp_path / "user.c", "-o", tmp_path / "user")
        assert made.returncode == 0, made.stderr
