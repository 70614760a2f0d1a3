"""The operators of graphs that are drawn at random (graph_generator.py).

Each is a function of a drawing and one of its values, and appends nodes. It returns what they make,
one value or a list, or None where it cannot make anything of that value.
"""

from . import (attention, constants, elementwise, images, indexing, inner_graphs, integers,
               microsoft, movement, normalizations, pools, products, random_numbers, recurrent,
               reductions, signals, training)  # noqa: F401
from .registry import OPERATORS  # noqa: F401
