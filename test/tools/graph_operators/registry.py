"""The list of what may be drawn."""

import dataclasses
from typing import Callable

from onnx_graph import FLOATS

OPERATORS = []


@dataclasses.dataclass(frozen=True)
class Operator:
    function: Callable
    types: tuple
    ranks: tuple  # empty: any
    weight: float
    is_random: bool

    def accepts(self, value):
        return (value.type in self.types and
                (not self.ranks or len(value.shape) in self.ranks))


def draws(types=FLOATS, ranks=(1, 2, 3, 4, 5), weight=1.0, is_random=False):
    """Lists a function of (drawing, value) for values of these types and ranks."""
    def register(function):
        OPERATORS.append(Operator(function, tuple(types), tuple(ranks), weight, is_random))
        return function
    return register


ANY_RANK = ()
