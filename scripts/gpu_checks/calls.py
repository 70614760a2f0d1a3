"""What programs ask of CUDA while they train: no memory, and no waiting."""

import json
import os
import re

from .runner import Check, Failed, NotRun

STEPS = 20
ALLOCATES = re.compile(
    r"cuda(Malloc|Free|Host(Alloc|Register)|GraphInstantiate)|"
    r"cu(Mem(Alloc|Free|Create|Release|HostAlloc|Map|Unmap)|(Module|Library)Load)")
# Not events: the host may wait for a batch of an earlier step before it writes over it.
WAITS = re.compile(r"cu(da)?((Stream|Device|Ctx)Synchronize|"
                   r"Memcpy(HtoD|DtoH|DtoD|ToSymbol|FromSymbol)?(_[vp]\w+)?$)")
# Bytes around memory that is planned, before and after (common/device/memory.cpp).
GUARDS = 2 * 4096


class Calls:
    def __init__(self, facts, work, programs):
        self.facts, self.work, self.programs = facts, work, programs

    def checks(self):
        for kind, judge in ("memory", judge_memory), ("waits", judge_waits):
            for model in self.facts["compared"]:
                yield Check(f"{kind}/{model}", lambda m=model, k=kind, j=judge: self.count(m, k, j),
                            120)

    def count(self, model, kind, judge):
        counter = os.path.join(self.programs.folder, "gpu", "libcount_calls.so")
        # Emulated programs count themselves.
        if not os.path.exists(counter) and not self.programs.is_given:
            raise NotRun("no CUPTI in the toolkit, by which calls are counted")
        path = os.path.join(self.work, f"{model}-{kind}.calls")
        name = f"compared-{model}-f32"
        if os.path.exists(path):
            os.remove(path)  # of an earlier run
        # Losses are waited for where they are printed: in the first step and in the last.
        self.programs.run(name, "--steps", str(STEPS), "--print-freq", str(STEPS), "--seed",
                          str(self.facts["seed"]), variables={
                              "FFC_CALLS": path, "CUDA_INJECTION64_PATH": counter})
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except OSError:
            raise NotRun("calls were not counted") from None
        if found["launches"] < 2:
            raise Failed("expected steps that are started as graphs, found none")
        return judge(found, self.planned(name))

    def planned(self, name):
        """Bytes of state and of buffers of a program of one rank."""
        row = re.search(r"^ +0 +(\d+) +(\d+) ", self.programs.run(name, "--info"), re.MULTILINE)
        if not row:
            raise Failed("expected a line of bytes in --info, found none")
        return [int(row.group(1)), int(row.group(2))]


def judge_memory(found, planned):
    """What is planned is allocated once, and nothing in steps."""
    sizes = list(found["sizes"])
    for size in planned:
        if size + GUARDS not in sizes:
            raise Failed(f"expected {size} planned bytes to be allocated, found {sizes}")
        sizes.remove(size + GUARDS)
    reject(found, ALLOCATES, "allocates")
    return (f"nothing in {found['launches']} graphs; {sum(planned)} planned bytes, {sum(sizes)} "
            f"for kernels and libraries beside them",
            {"planned": planned, "others": sizes})


def judge_waits(found, _):
    """The host does not wait for the device in a step."""
    reject(found, WAITS, "waits")
    return f"none in {found['launches']} graphs", found["calls"]


def reject(found, pattern, what):
    some = [f"{count} x {name}" for name, count in found["calls"].items() if pattern.match(name)]
    if some:
        raise Failed(f"{what} in its steps: {', '.join(some)} in {found['launches']} graphs")
