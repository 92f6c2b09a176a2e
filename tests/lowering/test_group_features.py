"""Features that a projection weighs alike: found whatever their order, and their sums lose nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from integer_models import quantized
from narrowing import known
from pooled_models import POOLED, grouped_case

from sparsegen.lowering import lower
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.formats import INPUT_KINDS, Format
from sparsegen.lowering.group_features import Blocks, group_features, weighed_alike
from sparsegen.lowering.input_range import own_steps, projected_steps
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import Transform

IMAGES = [
    (28, 28, 2, 2), (28, 28, 4, 4), (8, 8, 2, 2), (7, 9, 2, 2), (9, 7, 4, 3), (1, 61, 1, 4), (64, 1, 5, 1),
    (40, 3, 4, 1),
]  # fmt: skip


def columns(label, p=12, seed=0, largest=127):
    return np.random.default_rng(seed).integers(1, largest, (p, int(np.max(label)) + 1))[:, label]


def fewest_blocks(weights):
    """Try every image and every block."""
    n, counts = weights.shape[1], []
    for width in (w for w in range(1, n + 1) if n % w == 0):
        for high, wide in itertools.product(range(1, n // width + 1), range(1, width + 1)):
            of = Blocks(n // width, width, high, wide).of_feature
            if all(np.ptp(weights[:, of == block], axis=1).max() == 0 for block in range(of.max() + 1)):
                counts.append(of.max() + 1)
    return min(counts)


@pytest.mark.parametrize("shape", IMAGES)
def test_blocks_are_found_from_their_weights(shape):
    wanted = Blocks(*shape)
    weights = columns(wanted.of_feature)
    found = group_features(weights, 255, 1, 0)
    assert found is not None
    assert found.blocks is not None
    assert (found.number, found.drops_features) == (wanted.number, False)
    assert np.array_equal(found.of_feature, wanted.of_feature)
    assert np.array_equal(found.weights[:, found.of_feature], weights)


@pytest.mark.parametrize("seed", range(8))
def test_no_image_has_fewer_blocks(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([24, 30, 36]))
    width = int(rng.choice([w for w in range(1, n + 1) if n % w == 0]))
    label = Blocks(n // width, width, int(rng.integers(1, 5)), int(rng.integers(2, 7))).of_feature
    weights = columns(label, p=200, seed=seed)
    found = group_features(weights, 1, 1, 0)
    assert (n if found is None else found.number) == fewest_blocks(weights)


@pytest.mark.parametrize("levels", [1, 255, 4095])
@pytest.mark.parametrize("case", POOLED)
def test_sums_lose_nothing(case, levels):
    projection = known(POOLED[case].model.transform.projection)
    label = weighed_alike(projection)
    weights = columns(label, p=40, largest=4)
    weights[:, ~np.any(projection, axis=0)] = 0
    found = group_features(weights, levels, 2, 0)
    assert found is not None
    q = np.random.default_rng(0).integers(0, levels + 1, (30, len(label)))
    q[0] = levels
    read = found.of_feature >= 0
    sums = np.stack([q[:, found.of_feature == g].sum(axis=1) for g in range(found.number)], axis=1)
    assert np.array_equal(sums @ found.weights.T, q @ weights.T)
    assert not weights[:, ~read].any()
    assert sums.max() == found.largest_sum <= np.iinfo(found.sum_dtype).max


def test_a_table_names_groups_without_order_and_leaves_out_what_has_no_weight():
    label = np.random.default_rng(1).permutation(np.repeat(np.arange(10), 20))
    weights = columns(label)
    found = group_features(weights, 255, 1, 0)
    assert found is not None
    assert (found.blocks, found.number, found.table_dtype.name, found.drops_features) == (None, 10, "uint8", False)
    weights[:, :50] = 0
    found = group_features(weights, 255, 1, 0)
    assert found is not None
    assert found.drops_features
    assert set(found.table[:50]) == {found.number}
    many = columns(np.tile(np.random.default_rng(1).permutation(300), 6))
    wide = group_features(many[:, np.random.default_rng(2).permutation(1800)], 255, 1, 0)
    assert wide is not None
    assert (wide.number, wide.table_dtype.name) == (300, "uint16")


def test_single_features_stay_where_groups_save_nothing():
    assert group_features(columns(np.arange(100)), 255, 1, 0) is None
    assert group_features(columns(np.arange(100) // 2, p=2), 255, 1, 0) is None  # 100 bytes saved, 200 of RAM taken
    assert group_features(columns(np.arange(100) // 2, p=2), 255, 1, 100) is not None  # the buffer of features is saved
    assert group_features(np.zeros((12, 100), dtype=np.int64), 255, 1, 0) is None
    few = columns(np.arange(784))
    few[:, :60] = 0
    assert group_features(few, 255, 1, 0) is None  # 720 bytes saved, 724 of RAM taken


def test_the_last_digits_of_real_weights_do_not_matter():
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(7), 5)
    scale = rng.uniform(0.1, 10.0, 35)
    real = rng.normal(size=(4, 7))[:, label]
    assert np.array_equal(weighed_alike(real / scale * scale), label * 5)
    assert np.array_equal(weighed_alike(np.array([[0.0, -0.0, 1e-5, 1.0]])), [0, 0, 2, 3])


def test_small_weights_of_features_with_a_wide_range_stay_apart():
    small = np.array([[1e-12, 2e-12, 1e-12, 0.0, 1.0, 2.0], [3e-12, 3e-12, 3e-12, 0.0, 3.0, 3.0]])
    assert np.array_equal(weighed_alike(small), [0, 1, 0, 3, 4, 5])
    assert np.array_equal(weighed_alike(small * 1e30), [0, 1, 0, 3, 4, 5])


def test_features_weighed_alike_share_the_range_of_them_all():
    """A constant one too, whatever its scale."""
    box = Box(np.array([0.0, 5.0, 2.0, 0.0, 1.0]), np.array([0.0, 9.0, 4.0, 1.0, 1.0]))
    scale = np.array([2.0, 1.0, 0.5, 1.0, 1.0])
    T = Transform(np.zeros(5), scale, np.array([[1.0, 1.0, 1.0, 2.0, 3.0]]) / scale)
    found = projected_steps(box, T, 255, INPUT_KINDS["f32"])
    assert found.low.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(found.step, np.array([9.0, 9.0, 9.0, 1.0, 1.0]) / 255)
    plain = Transform(np.zeros(5), scale)
    expected = own_steps(box, plain, 255, INPUT_KINDS["f32"])
    assert projected_steps(box, plain, 255, INPUT_KINDS["f32"]).step.tolist() == expected.step.tolist()


@pytest.mark.parametrize("reads", ["f32", "grid", "raw-int16", "raw-uint8"])
@pytest.mark.parametrize("dtype", ["q7", "q15"])
def test_groups_survive_rounding(dtype, reads):
    """Also where each feature has a range and a scale of its own, and some are always 0."""
    blocks = Blocks(12, 12, 2, 2)
    case = grouped_case(blocks.of_feature)
    T = case.model.transform
    scale = np.random.default_rng(5).uniform(0.5, 2.0, 144)
    uneven = Transform(T.offset, T.scale * scale, known(T.projection) / scale)
    program = quantized(replace(case.model, transform=uneven), dtype, reads, case.rows)
    assert np.ptp(case.rows, axis=0).min() == 0.0
    assert program.feature_groups is not None
    assert program.feature_groups.blocks == blocks


@pytest.mark.parametrize("reads", ["f32", "grid", "raw-int16", "raw-uint8"])
@pytest.mark.parametrize("case", ["image", "table_dropped"])
def test_the_guarantee_holds_where_ranges_are_shared(case, reads):
    """For rows between and at the ends of the data's range, those of pixels that are always 0 included."""
    made = POOLED[case]
    low, high = made.rows.min(axis=0), made.rows.max(axis=0)
    rng = np.random.default_rng(0)
    mixed = low + (high - low) * rng.random((200, len(low)))
    ends = np.where(rng.random((200, len(low))) < 0.5, low, high)
    rows = np.vstack([made.rows, mixed, ends, (ends + 9.0 * mixed) / 10.0])
    for dtype in ("q7", "q15"):
        lowered = lower(made.model, Format(dtype, reads, rows=made.rows))
        program = lowered.program
        assert isinstance(program, IntegerProgram)
        assert program.feature_groups is not None
        inside = np.rint(rows) if reads.startswith("raw") else rows
        inputs = program.inputs(inside)
        if reads == "grid":
            inside = program.low + inputs * program.step  # what the indices stand for
        known_rows = inside[program.in_range(inputs)]
        assert len(known_rows) > 200
        scores = program.scores(program.inputs(known_rows)) * program.unit
        assert np.all(np.abs(scores - made.model.scores(known_rows)) <= known(lowered.guarantee).error)
