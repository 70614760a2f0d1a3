"""What a program of ffc has learned, back into the module."""

import json
import os
import re
import struct

_TYPES = {"F32": "float32", "F64": "float64", "F16": "float16", "BF16": "bfloat16",
          "I64": "int64", "I32": "int32", "U8": "uint8", "BOOL": "bool"}


def load(module, path):
    """Gives `module` the parameters and running statistics at `path`: a checkpoint, the folder of
    a run (the newest checkpoint in it), or a safetensors file. Returns the names of what was
    loaded. What ffc did not train, and so has not saved, stays as it is.

    Raises ValueError where a value is none of the module's, or has another shape, and before any
    of them is changed.
    """
    import torch

    found = values(path)
    have = module.state_dict()
    unknown = sorted(set(found) - set(have))
    if unknown:
        raise ValueError(f"{path}: expected values of the module, found {', '.join(unknown[:5])}" +
                         (f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""))
    for name, value in found.items():
        if value.shape != have[name].shape:
            raise ValueError(f"{path}: {name}: expected shape {list(have[name].shape)}, found "
                             f"{list(value.shape)}")
    with torch.no_grad():
        for name, value in found.items():
            have[name].copy_(value)
    return sorted(found)


def values(path):
    """The tensors at `path`, by name."""
    result = {}
    for file in _files(path):
        result.update(_read(file))
    return result


def _files(path):
    if not os.path.isdir(path):
        return [path]
    if not _has_values(path):
        steps = sorted(name for name in os.listdir(path) if re.fullmatch(r"step-\d{8,}", name))
        newest = os.path.join(path, steps[-1]) if steps else path
        if not _has_values(newest):
            raise ValueError(f"expected a checkpoint, or a folder of them, found {path}")
        path = newest
    index = os.path.join(path, "model.safetensors.index.json")
    if not os.path.exists(index):
        return [os.path.join(path, "model.safetensors")]
    with open(index, encoding="utf-8") as file:
        names = set(json.load(file)["weight_map"].values())
    return [os.path.join(path, os.path.basename(name)) for name in sorted(names)]


def _has_values(folder):
    return any(os.path.exists(os.path.join(folder, "model.safetensors" + end))
               for end in ("", ".index.json"))


def _read(path):
    """Of a safetensors file: the length of a head, the head, and the tensors' bytes."""
    import torch

    with open(path, "rb") as file:
        length = file.read(8)
        size = struct.unpack("<Q", length)[0] if len(length) == 8 else -1
        rest = os.path.getsize(path) - 8 - size
        try:
            head = json.loads(file.read(size)) if size >= 0 and rest >= 0 else None
        except ValueError:
            head = None
        if not isinstance(head, dict):
            raise ValueError(f"{path}: expected a safetensors file, found another")
        data = bytearray(file.read())
    result = {}
    for name, tensor in head.items():
        if name == "__metadata__":
            continue
        begin, end = tensor["data_offsets"]
        kind = _TYPES.get(tensor["dtype"])
        if kind is None or not 0 <= begin <= end <= len(data):
            raise ValueError(f"{path}: {name}: expected a tensor of numbers within the file, "
                             f"found {tensor}")
        dtype = getattr(torch, kind)
        flat = (torch.frombuffer(data, dtype=dtype, offset=begin,
                                 count=(end - begin) // dtype.itemsize)
                if end > begin else torch.empty(0, dtype=dtype))
        result[name] = flat.reshape(tensor["shape"]).clone()
    return result
