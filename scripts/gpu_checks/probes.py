"""What the GPU can do, NCCL on one GPU, and what compute-sanitizer finds."""

import json
import os

from . import machine
from .runner import Check, Failed, NotRun

SANITIZED_STEPS = 2


def rows(text):
    """Objects of JSON, one on a line; the last line may not be whole."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                break
    return found


class Probes:
    def __init__(self, facts, output, work, programs):
        self.facts, self.output, self.work, self.programs = facts, output, work, programs

    def checks(self):
        yield Check("device/record", self.record, 60)
        yield Check("nccl/one-rank", self.nccl_alone, 60)

    def ceilings(self):
        for name in "copies", "products", "attention", "convolutions":
            yield Check(f"ceilings/{name}", lambda n=name: self.measured(n), 90, alone=True)

    def sanitized(self):
        for tool in "memcheck", "racecheck":
            for model in self.facts["compared"]:
                yield Check(f"{tool}/{model}", lambda t=tool, m=model: self.sanitize(t, m), 100)

    def lines(self, name):
        """What was measured before an error is data, too."""
        try:
            return rows(self.run(name))
        except Failed as problem:
            raise type(problem)(str(problem), rows(problem.output) or None) from None

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

    def sanitize(self, tool, model):
        sanitizer = machine.find_tool("compute-sanitizer")
        if not sanitizer:
            raise NotRun("no compute-sanitizer")
        self.programs.run(f"compared-{model}-f32", "--steps", str(SANITIZED_STEPS), "--seed",
                          str(self.facts["seed"]),
                          wrapper=[sanitizer, "--tool", tool, "--error-exitcode", "9",
                                   # Those of libraries are not ours, and make it slow.
                                   "--kernel-name", "kns=ffrt"])
        return "nothing found"
