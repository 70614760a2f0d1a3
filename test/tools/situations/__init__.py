"""The bad situations of bad_situations.py, by when they come about."""

from . import compiling, data, exporting, resuming, running, starting  # noqa: F401
from .place import CASES, Place

__all__ = ["CASES", "Place"]
