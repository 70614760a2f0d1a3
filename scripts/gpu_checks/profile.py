"""Times of the kernels in steps, measured by programs of `ffc profile`."""

import json
import os
import re

from .runner import Check, Failed

# Of what such a program prints: calls, measured, by the topology's figures, kernel.
ROW = re.compile(r"^ *([\d.]+) +([\d.]+) us +([\d.]+) us  (\S+)$", re.MULTILINE)
TIMESTAMPS = re.compile(r"^timestamps: (\S+) us", re.MULTILINE)


class Profile:
    def __init__(self, facts, work, programs):
        self.facts, self.work, self.programs = facts, work, programs

    def checks(self):
        for model, precisions in self.facts["profiled"].items():
            yield Check(f"profile/{model}", lambda m=model, p=precisions: self.measure(m, p),
                        60 * len(precisions), alone=True, least=20)

    def measure(self, model, precisions):
        """Data: a row for every kernel, and what `ffc --profile` takes, by precision."""
        rows, profiles, notes = [], {}, []
        for precision in precisions:
            path = os.path.join(self.work, f"{model}-{precision}-profile.json")
            # With the plans of the program whose steps are timed.
            plans = self.programs.path(f"timed-{model}-{precision}") + ".plans"
            said = self.programs.run(
                f"profile-{model}-{precision}", "--repeat", "1", "--output", path,
                variables={"FFRT_PLAN_CACHE": plans, "OMP_NUM_THREADS": str(os.cpu_count())})
            found = [{"model": model, "precision": precision, "kernel": kernel,
                      "calls": float(calls), "us": float(measured), "figures us": float(expected)}
                     for calls, measured, expected, kernel in ROW.findall(said)]
            if not found or found[-1]["kernel"] != "all":
                raise Failed(f"{precision}: expected a table of kernels, found none")
            rows += found
            notes.append(f"{precision}: {found[-1]['us'] / 1e3:.3f} ms of kernels, "
                         f"{found[-1]['figures us'] / 1e3:.3f} ms by the topology's figures, "
                         f"without {TIMESTAMPS.search(said).group(1)} us for each timestamp")
            with open(path, encoding="utf-8") as file:
                profiles[precision] = json.load(file)
        return "; ".join(notes), {"kernels": rows, "profiles": profiles}
