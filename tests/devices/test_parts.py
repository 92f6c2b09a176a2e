"""The cost of every part of the code: it adds up, names change nothing, and each cost is where it belongs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from golden_models import EVERY, INTEGER, SMALL, model, rbf, rows

from sparsegen.devices import DEVICES
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._image import KEEP_SYMBOLS, OPTIMISE, build_elf, read_image
from sparsegen.devices._parts import HELPERS, PartOf
from sparsegen.devices._toolchain import SECTION_FLAGS, compile_with, standard, write_files, zig
from sparsegen.lowering import lower
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.targets import TARGETS
from sparsegen.targets.c.parts import PARTS, REST, by_parts

EARLY = Format("q7", early_exit=True)
CASES = {
    "float": (SMALL["binary_rbf"], FLOAT32),
    "several": (EVERY["several_kernels"], FLOAT32),
    "buffered": (EVERY["projected_buffered"], FLOAT32),
    "early": (SMALL["rbf_powers"], EARLY),
    "projected": (INTEGER["integer_projected"].model, INTEGER["integer_projected"].format),
    "narrow": (INTEGER["integer_narrow"].model, INTEGER["integer_narrow"].format),
    "linear": (INTEGER["integer_linear"].model, INTEGER["integer_linear"].format),
    "laplacian": (SMALL["laplacian_text"], Format("q15")),
}
# Each case once, and each device several times: the parts are those of the templates, not of the processor.
DEVICE_OF = {case: ("cortex-m0plus", "cortex-m4f", "rv32imc")[i % 3] for i, case in enumerate(CASES)}


def device(name):
    found = DEVICES[name]
    if found.missing() is not None:
        pytest.skip(f"{name}: {found.missing()}")
    assert isinstance(found, EmulatedDevice)
    return found


def measured(name, of, numbers, n=3):
    runner, lowered = device(name), lower(of, numbers)
    inputs = lowered.inputs(rows(of, n))
    return runner.measure_parts(by_parts(lowered, "m", runner.loops), inputs)


@pytest.mark.parametrize("case", CASES)
def test_parts_add_up_to_what_bench_measures(case):
    of, numbers = CASES[case]
    runner, lowered = device(DEVICE_OF[case]), lower(of, numbers)
    inputs = lowered.inputs(rows(of, 3))
    whole = runner.measure(TARGETS["c"].write(lowered, "m", runner.loops), inputs)
    found = runner.measure_parts(by_parts(lowered, "m", runner.loops), inputs)
    assert sum(found.counted.values()) == whole.instructions * found.rows
    assert sum(found.instructions.values()) == pytest.approx(whole.instructions)
    assert sum(found.bytes.values()) == sum(found.code.values()) + sum(found.tables.values()) == whole.flash
    assert set(found.counted) <= set(PARTS)
    assert found.counted[REST] < 0.34 * sum(found.counted.values())  # calls and loops, of very small models
    assert set(found.code) | set(found.tables) <= {*PARTS, HELPERS}


@pytest.mark.parametrize("case", ["float", "several", "early", "projected", "laplacian"])
def test_neither_names_nor_debugging_change_the_code(case, tmp_path):
    of, numbers = CASES[case]
    runner, lowered = device(DEVICE_OF[case]), lower(of, numbers)
    plain = contents(TARGETS["c"].write(lowered, "m", runner.loops), runner, "-g0", tmp_path / "plain")
    named = contents(by_parts(lowered, "m", runner.loops), runner, KEEP_SYMBOLS, tmp_path / "named")
    assert plain == named
    assert len(plain[".text.m_predict"]) > 10


def contents(export, runner, debugging, folder):
    """Return what would be loaded of an object file, section by section, and where it must be relocated."""
    sources = write_files(export, folder)
    target = folder / "m.o"
    flags = [standard(export), OPTIMISE, debugging, "-ffreestanding", *SECTION_FLAGS, f"-I{folder}"]
    compile_with(zig(), [*flags, *runner.compiler_flags, "-c", *sources, "-o", str(target)], folder, "m")
    with target.open("rb") as file:
        sections = [s for s in ELFFile(file).iter_sections() if s.name.startswith((".text", ".rodata", ".data"))]
        return {section.name: section.data() for section in sections}


def test_a_part_that_grows_is_the_one_that_costs_more():
    few, many = (measured("cortex-m0plus", model([rbf(0.1)], 6, d, (0, 1)), Format("q7", "f32")) for d in (8, 32))
    assert many.counted["distances"] > 2 * few.counted["distances"]
    assert many.counted["reader"] > 2 * few.counted["reader"]
    assert many.counted["exponentials"] <= 1.2 * few.counted["exponentials"]
    assert many.tables["distances"] == few.tables["distances"] + 6 * 24
    assert many.tables["sums"] == few.tables["sums"]


def test_software_floating_point_belongs_to_whoever_calls_it():
    soft, hard = (measured(name, SMALL["rbf_projected"], FLOAT32) for name in ("cortex-m0plus", "cortex-m4f"))
    assert set(soft.in_helpers) >= {"projection", "distances", "exponentials", "sums"}
    assert sum(soft.in_helpers.values()) > 0.8 * sum(soft.counted.values())
    assert soft.code[HELPERS] > 500
    assert not hard.in_helpers
    assert hard.code[HELPERS] == 0


def test_what_a_model_does_not_have_costs_nothing():
    linear = measured("cortex-m4f", *CASES["linear"])
    assert "exponentials" not in linear.counted
    assert "projection" not in linear.counted
    grid = measured("rv32imc", SMALL["binary_rbf"], Format("q7", "grid"))
    assert "reader" not in grid.counted
    assert measured("cortex-m4f", *CASES["projected"]).counted["projection"] > 0


def test_every_instruction_by_itself_gives_the_same():
    """The slow twin: a hook on every instruction, and the line table searched from its start for each."""
    from unicorn import UC_HOOK_CODE

    runner, lowered = device("rv32imc"), lower(SMALL["binary_rbf"], FLOAT32)
    export = by_parts(lowered, "m", runner.loops)
    inputs = lowered.inputs(rows(SMALL["binary_rbf"], 2))
    elf = build_elf(export, runner.compiler_flags, ("m_predict",))
    part_of = PartOf(elf, "m")
    emulated = runner._boot(export, read_image(elf))
    found, helped, caller = Counter[str](), Counter[str](), [REST]

    def slowly(address):
        return next((part for start, end, part in part_of._ranges if start <= address < end), None)

    def on_instruction(uc, address, size, _):
        part = slowly(address)
        caller[0] = part or caller[0]
        found[caller[0]] += 1
        helped[caller[0]] += part is None

    emulated._uc.hook_add(UC_HOOK_CODE, on_instruction)
    for row in inputs:
        emulated.write_row(row)
        emulated.predict("m_predict")
    fast = runner.measure_parts(export, inputs)
    assert dict(found) == dict(fast.counted)
    assert dict(+helped) == dict(fast.in_helpers)
    assert np.isclose(sum(fast.instructions.values()), sum(found.values()) / len(inputs))
