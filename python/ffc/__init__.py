"""From PyTorch to ffc and back.

    import ffc
    ffc.export(model, example, "model.onnx")    # then: ffc model.onnx --devices cpu:4 -o train
    ffc.load(model, "run1/best")                # what ./train has learned
"""

from .exporting import export
from .loading import load, values

__all__ = ["export", "load", "values"]
