#!/usr/bin/env python3
"""PyTorch's side of bench/traffic: what the kernels of a compiled step read and write.

usage: traffic_torch.py MODEL BATCH LENGTH f32|bf16 FOLDER

Compiles model and loss as bench/step_torch_gpu.py does and asks torch.compile what its kernels and
the library calls between them access: every tensor that one reads or writes counts once, gathers of
a table as many bytes as they can touch. Prints a line of JSON: bytes and kernels of forward and
backward pass, without the optimizer. Nothing is run. Attention has no dropout, which CPUs compute in
another way than GPUs. Written for PyTorch 2.15: it looks into the compiler, which is no interface.
"""

import functools
import json
import os
import sys

import step_models
import step_torch_gpu
from torch._inductor import config, scheduler


def parts_of(node):
    return getattr(node, "snodes", None) or [node]


def gathered(node, name):
    """At most so many elements of a buffer that is read by computed positions alone, or None."""
    most = 0
    for part in parts_of(node):
        deps = [dep for dep in part.read_writes.reads | part.read_writes.writes
                if dep.name == name]
        if any(not hasattr(dep, "is_indirect") or not dep.is_indirect() for dep in deps):
            return None
        if deps and isinstance(part, scheduler.SchedulerNode):
            ranges = [int(extent) for group in part.get_ranges() for extent in group]
            most = max(most, functools.reduce(lambda a, b: a * b, ranges, 1))
    return most


def bytes_of(node):
    total = 0
    for name, count in node.get_read_write_buffer_accesses(include_reads=True,
                                                           include_writes=True).items():
        elements = gathered(node, name)
        # Four bytes an element: tables are f32.
        total += count if elements is None else min(count, 4 * elements)
    return total


def main():
    if len(sys.argv) != 6 or sys.argv[4] not in ("f32", "bf16"):
        sys.exit(__doc__)
    name, batch, length, precision, folder = sys.argv[1:]
    attention = step_models.fused_attention
    step_models.fused_attention = lambda *args, **more: attention(*args, **{**more, "dropout_p": 0})
    config.fx_graph_cache = False
    passes = []

    def count(graph):
        accesses = [bytes_of(node) for node in graph.nodes]
        passes.append({"bytes": sum(accesses), "kernels": sum(one > 0 for one in accesses)})
        if len(passes) == 2:
            print(json.dumps({key: sum(one[key] for one in passes) for key in passes[0]}),
                  flush=True)
            os._exit(0)
        return generate(graph)

    generate, scheduler.Scheduler.codegen = scheduler.Scheduler.codegen, count
    training = step_torch_gpu.GpuTraining(name, int(batch), int(length), precision, folder)
    print(json.dumps(training.prepare("compile")), file=sys.stderr)
    sys.exit("error: expected a forward and a backward pass, found none")


if __name__ == "__main__":
    main()
