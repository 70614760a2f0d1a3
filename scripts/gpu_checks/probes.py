"""What the GPU can do, NCCL on one GPU, and what compute-sanitizer finds."""

import json
import os

from . import machine
from .runner import Check, Failed, NotRun

SANITIZED_STEPS = 2


class Probes:
    def __init__(self, facts, output, work, programs):
        self.facts, self.output, self.work, self.programs = facts, output, work, programs

    def checks(self):
        yield Check("device/record", self.record, 60)
        yield Check("nccl/one-rank", self.nccl_alone, 60)

    def ceilings(self):
        for name in "copies", "products", "convolutions", "attention":
            yield Check(f"ceilings/{name}", lambda n=name: self.measured(n), 150, alone=True)
        # Kernels of one rank that wait for those of another take turns on the GPU.
        yield Check("nccl/two-ranks", self.nccl_two, 120, alone=True)

    def sanitized(self):
        for tool in "memcheck", "racecheck":
            for model in self.facts["compared"]:
                yield Check(f"{tool}/{model}", lambda t=tool, m=model: self.sanitize(t, m), 100)

    def lines(self, name):
        return [json.loads(line) for line in self.run(name).splitlines() if line.startswith("{")]

    def run(self, name):
        if self.programs.is_given and not os.path.exists(self.programs.path(name)):
            raise NotRun("not among the programs")
        return self.programs.run(name)

    def record(self):
        text = self.run("probe-device_record").strip()
        about = json.loads(text)
        path = os.path.join(self.output, "device.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return f"{about.get('deviceName', 'a device')}, in {os.path.basename(path)}", about

    def measured(self, name):
        found = self.lines(f"probe-{name}")
        if not found:
            raise Failed("expected lines of what was measured, found none")
        return f"{len(found)} measured", found

    def nccl_alone(self):
        found = self.lines("probe-nccl_alone")
        return f"captured and replayed; NCCL {found[0]['version']}", found[0]

    def nccl_two(self):
        """Ranks that share a GPU, which NCCL takes for those of two machines."""
        name = next((name for name, about in self.facts["ranks"].items() if about["ranks"] == 2),
                    None)
        if not name:
            raise NotRun("no program of two ranks")
        folder = os.path.join(self.work, "nccl")
        self.programs.run(
            f"ranks-{name}", "--local-ranks", "2", "--steps", "3", "--dump", folder,
            variables={"FFRT_COMM": "nccl", "NCCL_SOCKET_IFNAME": "lo", "FFRT_DEADLINE": "60",
                       "NCCL_DEBUG": "WARN"})
        return "two ranks of NCCL share a GPU"

    def sanitize(self, tool, model):
        sanitizer = machine.find_tool("compute-sanitizer")
        if not sanitizer:
            raise NotRun("no compute-sanitizer")
        self.programs.run(f"compared-{model}-f32", "--steps", str(SANITIZED_STEPS), "--seed",
                          str(self.facts["seed"]),
                          wrapper=[sanitizer, "--tool", tool, "--error-exitcode", "9"])
        return "nothing found"
