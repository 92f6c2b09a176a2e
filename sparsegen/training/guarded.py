"""Training whose errors are sentences: what went wrong with parameters or numbers, and what to do."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sparsegen.errors import ModelError, OptionError, SparsegenError
from sparsegen.methods.shared.sklearn_private import InvalidParameterError


def check_seed(seed: int) -> None:
    """Raise an error for what is no seed of a random draw."""
    if not 0 <= seed < 2**32:
        raise OptionError(f"the seed must lie between 0 and {2**32 - 1}, but it is {seed}")


@contextmanager
def guarded(parameters: str) -> Iterator[list[str]]:
    """Give the list of what training warned of, filled when it is over; ``parameters`` may be too far from 1."""
    from sklearn.exceptions import ConvergenceWarning

    told: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield told
    except InvalidParameterError as error:
        raise OptionError(parameter_sentence(str(error))) from None
    except (ArithmeticError, ValueError) as error:  # NumPy's and SciPy's words for numbers that grew out of range
        if isinstance(error, SparsegenError) and not isinstance(error, ModelError):
            raise
        raise OptionError(
            f"training broke down ({str(error).rstrip('.')}); bring {parameters} closer to 1, or scale the features"
        ) from error
    # Overflow on the way (RuntimeWarning) is no news to the user where the model came out finite.
    heard = [str(warning.message) for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    told += dict.fromkeys(heard)


def parameter_sentence(text: str) -> str:
    """Return scikit-learn's complaint about a parameter as one sentence without its types and sets."""
    match = re.fullmatch(r"The '(\w+)' parameter of \w+ must be (.+)\. Got (.+) instead\.", text, re.DOTALL)
    if match is None:
        return " ".join(text.split())
    name, allowed, value = match.groups()
    allowed = re.sub(r"an? (?:str|\w+) among \{(.*?)\}", lambda m: " or ".join(sorted(m[1].split(", "))), allowed)
    allowed = re.sub(r"(an int|a float) in the range ([\[(])(\S+), (\S+)([\])])", _range_words, allowed)
    allowed = allowed.replace("an instance of 'str'", "a name").replace("an instance of 'dict'", "a mapping")
    allowed = allowed.replace(" or None", "")
    return f"{name} is {' '.join(value.split())[:60]}, but must be {allowed}"


def _range_words(match: re.Match[str]) -> str:
    kind, opening, low, high, closing = match.groups()
    limits = [f"{'>=' if opening == '[' else '>'} {float(low):g}"] if low != "-inf" else []
    limits += [f"{'<=' if closing == ']' else '<'} {float(high):g}"] if high != "inf" else []
    return f"a {'whole' if kind == 'an int' else 'finite'} number {' and '.join(limits)}".rstrip()
