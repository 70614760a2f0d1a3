"""python -m ffc FILE.py:NAME -o MODEL.onnx

NAME is a function of FILE.py that returns (module, example) or (module, example, loss), as
ffc.export takes them.
"""

import argparse
import importlib.util
import os
import sys

from .exporting import export


def _load(spec):
    path, colon, name = spec.rpartition(":")
    if not colon:
        sys.exit(f"error: expected FILE.py:NAME, found '{spec}'")
    if not os.path.exists(path):
        sys.exit(f"error: expected a file, found no '{path}'")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    description = importlib.util.spec_from_file_location(
        os.path.splitext(os.path.basename(path))[0], path)
    module = importlib.util.module_from_spec(description)
    description.loader.exec_module(module)
    if not hasattr(module, name):
        sys.exit(f"error: {path}: expected '{name}', found no such")
    return getattr(module, name)


def main():
    parser = argparse.ArgumentParser(prog="python -m ffc", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("make", metavar="FILE.py:NAME")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL.onnx")
    parser.add_argument("--fixed-batch", action="store_true",
                        help="the batch of the example, not any")
    arguments = parser.parse_args()
    made = _load(arguments.make)()
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        sys.exit(f"error: {arguments.make}: expected (module, example) or (module, example, "
                 f"loss), found {type(made).__name__}")
    export(made[0], made[1], arguments.output, *made[2:],
           dynamic_batch=not arguments.fixed_batch)
    print(f"wrote {arguments.output}; ffc {arguments.output} --devices cpu:2 --batch-size 16" +
          (" --loss=none" if len(made) > 2 else "") + " -o train")


if __name__ == "__main__":
    main()
