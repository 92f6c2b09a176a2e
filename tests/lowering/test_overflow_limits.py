"""The range in which nothing overflows is the largest power of ten, whichever number of a program grows first."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.errors import ModelError
from sparsegen.kernels.expression import Add, Const, Core, Exp, Exp2, Mul, Param, Pow, Reciprocal, Sqrt
from sparsegen.lowering.overflow import safe_power_of_ten
from sparsegen.lowering.program import Part, Program

T = Core()
MOST = float(np.finfo(np.float32).max) / 4.0


def program(
    outer=T, *, form="dot", vectors=((1e-30, 1e-30),), shift=(0.0,), slope=-1e-30, square=None, coef=(1e-30,),
    intercept=0.0, offset=None, scale=None, projection=None, projection_shift=None,
):  # fmt: skip
    """Return a program of one kernel in which every number that is not given is too small to matter."""
    part = Part(form, np.array(vectors), np.array(shift), slope, None if square is None else np.array(square),
                (outer,), np.array([[list(coef)]]))  # fmt: skip
    offset, scale, projection, projection_shift = (
        None if given is None else np.array(given) for given in (offset, scale, projection, projection_shift)
    )
    return Program((part,), np.array([intercept]), offset, scale, projection, projection_shift, 2, (0, 1), {})


CASES = {
    "the feature itself": (program(), lambda x: x),
    "less an offset": (program(offset=[0.0, -6e37], scale=[1e-30, 1e-30]), lambda x: x + 6e37),
    "scaled": (program(offset=[0.0, 0.0], scale=[1e-30, -1e9]), lambda x: x * 1e9),
    "scaled after the offset": (program(offset=[0.0, 1e20], scale=[1e-30, -1e9]), lambda x: (x + 1e20) * 1e9),
    "projected": (program(projection=[[1e9, -2e9]] * 2, projection_shift=[0.0, 0.0]), lambda x: 3e9 * x),
    "projected and shifted": (
        program(projection=[[1.0, -1.0]] * 2, projection_shift=[0.0, -7e37]), lambda x: 2 * x + 7e37,
    ),
    "a product": (program(vectors=[[1e9, -4e9]]), lambda x: 5e9 * x),
    "the largest product of any vector": (
        program(vectors=[[1.0, 1.0], [1e9, -4e9]], shift=[0.0, 0.0], coef=[1e-30, 1e-30]), lambda x: 5e9 * x,
    ),
    "a product and a shift": (program(vectors=[[1.0, -1.0]], shift=[-7e37]), lambda x: 2 * x + 7e37),
    "squares": (program(square=[-1e-20, -1e-20]), lambda x: 2 * x * x),
    "weighted squares": (program(square=[-1e8, -1e-9]), lambda x: 2 * x * x * 1e8),
    "squares and a shift": (
        program(square=[-1.0, -1.0], shift=[7e37], vectors=[[1e-30, 1e-30]]), lambda x: 2 * x * x + 7e37,
    ),
    "differences": (program(form="absolute", vectors=[[6e37, -1.0]]), lambda x: 2 * x + 6e37 + 1.0),
    "differences from a negative vector": (
        program(form="absolute", vectors=[[-8e37, 1.0]]), lambda x: 2 * x + 8e37 + 1.0,
    ),
    "their squares": (program(form="square", vectors=[[1e18, -3e18]]), lambda x: (x + 1e18) ** 2 + (x + 3e18) ** 2),
    "a wide slope": (program(form="absolute", slope=-1e9), lambda x: 2e9 * x),
    "a slope and a shift": (program(form="square", slope=-1.0, shift=[7e37]), lambda x: 2 * x * x + 7e37),
    "a sum of functions": (program(Add(T, Mul(Const(2e9), T)), vectors=[[1.0, 0.0]]), lambda x: x + 2e9 * x),
    "a constant added": (program(Add(T, Const(-8e37)), vectors=[[1.0, 0.0]]), lambda x: x + 8e37),
    "a product of functions": (program(Mul(T, T), vectors=[[3.0, 0.0]]), lambda x: 9 * x * x),
    "a power": (program(Pow(T, Const(3.0)), vectors=[[3.0, 0.0]]), lambda x: 27 * x**3),
    "a root": (program(Mul(Sqrt(T), Const(1e25)), vectors=[[1.0, 0.0]]), lambda x: 1e25 * x**0.5),
    "a coefficient": (program(vectors=[[1.0, 0.0]], coef=[-1e9]), lambda x: 1e9 * x),
    "coefficients of both signs": (
        program(vectors=[[1.0, 0.0]] * 2, shift=[0.0, 0.0], coef=[3e9, -4e9]), lambda x: 7e9 * x,
    ),
    "an intercept": (program(vectors=[[1.0, 0.0]], coef=[1.0], intercept=-8e37), lambda x: x + 8e37),
    "a growing exponential": (program(Exp(T), vectors=[[0.01, 0.0]]), lambda x: float(np.exp(np.float64(0.01 * x)))),
    "a power of two": (program(Exp2(T), vectors=[[-0.01, 0.0]]), lambda x: float(np.exp2(np.float64(0.01 * x)))),
    "an exponential of a negative distance falls": (
        program(Exp(T), form="square", slope=-1.0), lambda x: 2 * x * x,
    ),
    "an exponential in dot form falls with the squares": (
        program(Exp(T), square=[-1.0, -1.0]), lambda x: 2 * x * x,
    ),
    "an exponential that grows towards negative arguments": (
        program(Exp(Mul(Const(-1.0), T)), vectors=[[0.01, 0.0]]), lambda x: float(np.exp(np.float64(0.01 * x))),
    ),
    "an exponential times a large number": (
        program(Mul(Const(1e30), Exp(T)), vectors=[[1.0, 0.0]]), lambda x: 1e30 * float(np.exp(np.float64(x))),
    ),
    "a quotient": (
        program(Reciprocal(Add(Const(1.0), Mul(T, T))), vectors=[[1.0, 0.0]]), lambda x: 1.0 + x * x,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_range_is_the_largest_in_which_the_largest_number_stays_finite(name):
    """A quarter of float32 is used: compilers add in another order."""
    made, largest = CASES[name]
    with np.errstate(over="ignore"):
        fitting = [k for k in range(-37, 38) if max(10.0**k, largest(10.0**k)) <= MOST]
    assert safe_power_of_ten(made) == max(fitting)


@pytest.mark.parametrize("intercept", [MOST, -MOST])
def test_a_number_of_a_quarter_of_float32_still_fits_and_no_more(intercept):
    small = {"vectors": ((0.0, 0.0),), "coef": (0.0,)}
    assert safe_power_of_ten(program(intercept=intercept, **small)) == 37
    with pytest.raises(ModelError, match="too large for float32"):
        safe_power_of_ten(program(intercept=1.0001 * intercept, **small))


def test_tiny_ranges_are_found_and_none_is_refused():
    """A vector of 1e37 on both features leaves room for features up to 1 at most."""
    assert safe_power_of_ten(program(vectors=[[3e37, 5e37]])) == 0
    assert safe_power_of_ten(program(vectors=[[1e37, 1e37]], coef=[4e37])) == -37
    with pytest.raises(ModelError, match="rescale the features"):
        safe_power_of_ten(program(vectors=[[1e37, 1e37]], coef=[5e38]))


def test_a_quotient_that_grows_near_0_of_the_distance_counts():
    """1 / t is largest where the distance is smallest: at the shift."""
    nearest = program(Reciprocal(T), form="square", slope=1.0, shift=[1e-3], coef=[1e30])
    assert safe_power_of_ten(nearest) == 18
    with pytest.raises(ModelError, match="divides by 0"):
        safe_power_of_ten(program(Reciprocal(T), form="square", slope=1.0, shift=[0.0], coef=[1e30]))
    with pytest.raises(ModelError):
        safe_power_of_ten(program(Reciprocal(T), form="square", slope=1.0, shift=[1e-9], coef=[1e30]))


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_in_dot_form_a_distance_of_0_lies_at_the_shift_less_the_norm(weight):
    """t = w |s|^2 - 2 w z.s + w |z|^2 + 1e-3 is 1e-3 at the vector, where 1 / t is largest."""
    z = np.array([3.0, -4.0])
    dot = {"form": "dot", "square": [weight, weight], "vectors": [-2.0 * weight * z], "coef": [1e30]}
    assert safe_power_of_ten(program(Reciprocal(T), shift=[25.0 * weight + 1e-3], **dot)) == 18
    with pytest.raises(ModelError):
        safe_power_of_ten(program(Reciprocal(T), shift=[25.0 * weight], **dot))


def test_a_function_without_a_form_is_an_error():
    with pytest.raises(TypeError, match="a device has no form for"):
        safe_power_of_ten(program(Param("gamma")))
