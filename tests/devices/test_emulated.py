"""The emulated microcontrollers: counting, stack, flash, and what happens when a model misbehaves."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from c_programs import emulated
from narrowing import known

from sparsegen.devices import DEVICES, Profile
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._emulator import EmulatedProcessor
from sparsegen.devices._image import build_image
from sparsegen.devices.cortex_m import CortexM
from sparsegen.devices.riscv import Rv32
from sparsegen.errors import ToolError

EMULATED = [name for name in DEVICES if isinstance(DEVICES[name], EmulatedDevice)]
SCORES = "void m_scores(const float *x, float *scores) { scores[0] = x[0]; }\n"
ONE = np.ones((1, 1), np.float32)
TWO_INSTRUCTIONS = {CortexM: "movs r0, #1\\n bx lr", Rv32: "li a0, 1\\n ret"}


@pytest.fixture(params=EMULATED)
def device(request):
    found = DEVICES[request.param]
    if found.missing() is not None:
        pytest.skip(f"{request.param}: {found.missing()}")
    return found


def boot(device, export, **options):
    image = build_image(export, device.compiler_flags, ("m_predict",))
    return EmulatedProcessor(device.processor, image, 4 * export.n_features, export.n_outputs, **options)


def conditional_body(device, uc, address, size):
    """Return the addresses made conditional by a Thumb IT instruction at ``address``; none for any other."""
    half_word = int.from_bytes(uc.mem_read(address, 2), "little")
    if not isinstance(device.processor, CortexM) or half_word >> 8 != 0xBF or half_word & 0xF == 0:
        return []
    lowest_bit = (half_word & -half_word & 0xF).bit_length() - 1
    body = [address + size]
    for _ in range(3 - lowest_bit):
        first = int.from_bytes(uc.mem_read(body[-1], 2), "little")
        body.append(body[-1] + device.processor.instruction_bytes(first))
    return body


def test_block_counting_equals_counting_every_instruction(device, sample):
    """A hook on every instruction misses those an IT skips; they are issued and take a cycle, so both count them."""
    from unicorn import UC_HOOK_CODE

    by_block, by_instruction = boot(device, sample.export), boot(device, sample.export)
    by_block.count_instructions()
    executed: list[int] = []
    conditional: list[int] = []

    def on_instruction(uc, address, size, _):
        if address not in conditional:
            executed.append(address)
            conditional[:] = conditional_body(device, uc, address, size)
            executed.extend(conditional)

    by_instruction._uc.hook_add(UC_HOOK_CODE, on_instruction)
    for row in sample.X[:20]:
        before = len(executed)
        for machine in (by_block, by_instruction):
            machine.write_row(row)
            machine.predict("m_predict")
        assert by_block.trace.take(None).instructions == len(executed) - before > 0


def test_count_equals_a_hand_count(device, make_export):
    two = next((text for kind, text in TWO_INSTRUCTIONS.items() if isinstance(device.processor, kind)), "")
    if not two:
        pytest.skip(f"nobody has counted instructions of {device.name} by hand")
    source = f'__attribute__((naked)) int m_predict(const float *x) {{ __asm__ volatile ("{two}"); }}'
    assert device.measure(make_export(source, 1, 1), ONE).instructions == 2


def test_negative_results_are_signed(device, make_export):
    source = SCORES + "int m_predict(const float *x) { return x[0] > 0.0f ? -7 : 0; }"
    assert device.run(make_export(source, 1, 1), ONE).labels.tolist() == [-7]


def test_ram_holds_a_big_local_array_and_static_data(device, make_export):
    local = "volatile char big[5000]; for (int i = 0; i < 5000; i++) { big[i] = (char)i; } return big[77];"
    static = "static int calls[100]; static volatile int start = 3; calls[(int)x[0]]++; return calls[start];"
    assert (
        5000
        <= device.measure(make_export(f"int m_predict(const float *x) {{ (void)x; {local} }}", 1, 1), ONE).ram
        < 5100
    )
    assert 404 <= device.measure(make_export(f"int m_predict(const float *x) {{ {static} }}", 1, 1), ONE).ram < 520


def test_flash_counts_only_what_a_prediction_reaches(device, make_export):
    predict = "int m_predict(const float *x) { return x[0] > 0.0f; }\n"
    unused = f"static const float m_table[500] = {{{', '.join(f'{i}.5f' for i in range(500))}}};\n"
    unused += "float m_other(int i) { return m_table[i] * m_table[i + 1]; }\n"
    small, padded = make_export(predict, 1, 1), make_export(predict + unused, 1, 1)
    assert device.measure(padded, ONE).flash == device.measure(small, ONE).flash
    kept = build_image(padded, device.compiler_flags, ("m_predict", "m_other"))
    assert kept.flash > device.measure(small, ONE).flash + 2000


def test_reading_past_the_row_is_caught(device, make_export):
    source = SCORES + "int m_predict(const float *x) { return x[1] > 0.0f; }"
    with pytest.raises(ToolError, match="m_predict crashed in the emulator at 0x08"):
        device.run(make_export(source, 1, 1), ONE)


def test_a_null_write_is_caught(device, null_write):
    with pytest.raises(ToolError, match="m_predict crashed"):
        device.run(null_write, np.zeros((1, 1), np.float32))


def test_instructions_are_counted_and_nothing_is_timed(device, sample):
    cost = device.measure(sample.export, sample.X)
    assert None not in (cost.flash, cost.ram, cost.instructions, cost.worst_instructions)
    assert cost.cycles is cost.worst_cycles is cost.latency_us is None
    assert sum(cost.mix.values()) == pytest.approx(cost.instructions)


def test_cycles_are_an_estimate_between_two_bounds(device, sample):
    cost = device.measure(sample.export, sample.X)
    assert cost.instructions / 2 <= cost.estimate.least_cycles <= cost.estimate.cycles <= cost.estimate.worst_cycles
    assert cost.estimate.cycles < 5 * cost.instructions
    assert cost.estimate.core == device.core


def test_a_part_with_another_core_is_timed_as_that(sample):
    m0plus = emulated("cortex-m0plus")
    if m0plus.missing() is not None:
        pytest.skip(str(m0plus.missing()))
    costs = [
        m0plus.timed_as(Profile("part", 1, 1, 1, core)).measure(sample.export, sample.X)
        for core in (None, "cortex-m0plus", "cortex-m0")
    ]
    assert costs[0] == costs[1]
    assert costs[2].instructions == costs[0].instructions
    estimates = [known(cost.estimate) for cost in costs]
    assert estimates[2].core == "cortex-m0"
    assert estimates[2].cycles > estimates[0].cycles  # a stage more to refill
    assert m0plus.core == "cortex-m0plus"


def test_a_device_without_a_known_core_tells_no_cycles(sample):
    device = emulated("cortex-m3")
    if device.missing() is not None:
        pytest.skip(str(device.missing()))
    other = copy.copy(device)
    other.core = None
    assert other.measure(sample.export, sample.X[:1]).estimate is None


def test_a_trap_is_caught(device, make_export):
    source = "int m_predict(const float *x) { if (x[0] > 0.0f) { __builtin_trap(); } return 0; }"
    with pytest.raises(ToolError, match="m_predict crashed"):
        device.measure(make_export(source, 1, 1), ONE)


def test_a_runaway_prediction_ends(device, make_export):
    source = "int m_predict(const float *x) { volatile int go = 1; while (go) { } return (int)x[0]; }"
    machine = boot(device, make_export(source, 1, 1), seconds=0.3)
    with pytest.raises(ToolError, match=r"did not return within 0\.3 s"):
        machine.predict("m_predict")


def test_wide_rows_fit(device, make_export):
    source = (
        SCORES
        + "int m_predict(const float *x) { int j, n = 0; for (j = 0; j < 9000; j++) { n += x[j] > 0.0f; } return n; }"
    )
    X = np.tile(np.array([1, -1, 1], np.float32), (2, 3000))
    assert device.run(make_export(source, 9000, 1), X).labels.tolist() == [6000, 6000]


def test_a_missing_function_is_named(device, make_export):
    with pytest.raises(ToolError, match=r"m \(c99\) does not define the C function m_predict"):
        device.measure(make_export(SCORES, 1, 1), ONE)


@pytest.mark.parametrize("name", EMULATED)
@pytest.mark.parametrize("package", ["unicorn", "ziglang", "elftools", "capstone"])
def test_missing_package_says_what_to_install(name, package, hide, sample):
    hide(package)
    sentence = rf"device {name} cannot run here: {package} not found; install .* pip install 'sparsegen\[devices\]'"
    with pytest.raises(ToolError, match=sentence):
        DEVICES[name].run(sample.export, sample.X)


@pytest.mark.parametrize(
    ("name", "half_word", "expected"),
    [
        ("cortex-m4f", 0xE7FE, 2),  # b .
        ("cortex-m4f", 0xE92D, 4),  # push.w
        ("cortex-m4f", 0xF000, 4),  # bl
        ("cortex-m4f", 0xFFFF, 4),
        ("rv32imc", 0x8082, 2),  # ret, compressed
        ("rv32imc", 0x0513, 4),  # addi a0, ...
    ],
)
def test_instruction_lengths(name, half_word, expected):
    assert emulated(name).processor.instruction_bytes(half_word) == expected
