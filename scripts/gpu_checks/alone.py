"""Programs at full size, each alone: what a step takes, and where its time goes."""

import os
import re
import shutil

from .runner import Check, Failed

# A line of the program's training.
STEP = re.compile(r"^step .* loss (\S+) +(\S+) ms/step", re.MULTILINE)
TRACED_STEPS = 4


class Alone:
    """`output` gets the plans that programs have chosen, and traces of some steps."""

    def __init__(self, facts, output, programs):
        self.facts, self.programs = facts, programs
        self.kept = os.path.join(output, "alone")

    def checks(self):
        for model, about in self.facts["timed"].items():
            for precision in about["precisions"]:
                yield Check(f"alone/{model}/{precision}",
                            lambda m=model, p=precision: self.measure(m, p), 150, alone=True)

    def measure(self, model, precision):
        os.makedirs(self.kept, exist_ok=True)
        name = f"timed-{model}-{precision}"
        line = self.facts["timed"][model]["line"]
        try:
            text = self.programs.run(name, "--steps", str(20 * line), "--print-freq", str(line),
                                     "--lr", "0.001")
        finally:
            plans = self.programs.path(name) + ".plans"
            if os.path.exists(plans):
                shutil.copy(plans, self.kept)
        found = [(loss, float(ms)) for loss, ms in STEP.findall(text)]
        if len(found) < 3:
            raise Failed(f"expected lines of training, found {text[-300:]}")
        times = sorted(ms for _, ms in found[1:])
        data = {"model": model, "precision": precision, "ms": times[len(times) // 2],
                "least": times[0], "most": times[-1], "first loss": found[0][0],
                "last loss": found[-1][0]}
        note = f"{data['ms']:.3f} ms [{times[0]:.3f}, {times[-1]:.3f}], loss {found[0][0]} to " \
               f"{found[-1][0]}"
        trace = os.path.join(self.kept, f"{name}.trace.json")
        try:
            self.programs.run(name, "--steps", str(TRACED_STEPS), "--lr", "0.001", "--trace", trace)
        except Failed as problem:
            raise Failed(f"{note}; with --trace: {problem}", data) from None
        return note, data
