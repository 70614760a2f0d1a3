#!/usr/bin/env python3
"""Trains small graphs that are drawn at random, by ffc's default command.

Every graph is planned for one device, searched for several, and planned by a random strategy with
and without fusion. All ranks of each plan are evaluated in double precision (ffc-evaluate) and
agree with the graph as it was imported; its gradients agree with finite differences. Every
--run-th graph is compiled as well: losses, outputs, gradients and parameters of the program agree
with double precision as far as the graph is not too sensitive to rounding; with --f64 they are
programs in f64, which agree as exactly as plans do. Graphs that fail are made smaller and printed.
"""

import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

from graph_generator import draw
from graph_shrinker import shrink
from programs import Failure, file_name, run_program

STEPS, RATE = 2, 0.05
# Of f32 programs beside the noise of f32, of double precision, and of finite differences.
SINGLE, DOUBLE, SLOPE = 2e-5, 1e-9, 1e-4
NOISES = 30
DOUBLE_NOISES = NOISES * 2.0**-29 # rounding of double precision is 2^-29 of that of f32
# A value moved so far by rounding says little; most graphs have none such.
SENSITIVE = 1e-3


class Plan:
    """Flags of ffc under which a graph is planned."""

    def __init__(self, name, devices, *flags, evaluated=True):
        self.name, self.devices, self.evaluated = name, devices, evaluated
        self.flags = ["--devices", f"cpu:{devices}", *flags]


def plans(seed):
    draw_from = random.Random(seed)
    several = draw_from.choice([2, 3, 4])
    strategy = f"random:{seed}"
    return [
        Plan("one", 1),
        Plan("searched", several),
        Plan("random", several, "--strategy", strategy),
        Plan("random-unfused", several, "--strategy", strategy, "--fuse=off"),
        Plan("pipeline", several, "--strategy", f"random-pipeline:{seed}"),
        Plan("recompute", several, "--strategy", f"random-recompute:{seed}"),
        Plan("bf16", 2, "--search-budget", "100", "--precision", "bf16", evaluated=False),
    ]


def call(command, timeout=120):
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)}\nno end after {timeout} s") from None
    if run.returncode:
        raise Failure(f"{' '.join(command)}\nstatus {run.returncode}\n{run.stderr[-3000:]}")
    return run.stdout


def norm(numbers):
    return float(np.linalg.norm(np.asarray(numbers, dtype=np.float64).ravel()))


def group(name):
    return name.split("/")[0]


class Expected:
    """What ffc-evaluate says of a graph."""

    def __init__(self, report):
        self.report = report
        self.values = report["values"]
        self.norms, self.totals = {}, {}
        for name, value in self.values.items():
            value["data"] = np.array(value["data"], dtype=np.float64)  # None becomes NaN
            self.norms[name] = norm(value["data"])
            self.totals[group(name)] = float(np.hypot(self.totals.get(group(name), 0),
                                                      self.norms[name]))

    def is_finite(self):
        numbers = [*self.report["losses"], *self.report["loss_noise"]]
        return (None not in numbers and all(v["noise"] is not None and np.isfinite(v["data"]).all()
                                            for v in self.values.values()))

    def is_sensitive(self):
        return any(value["noise"] > SENSITIVE * self.scale(name)
                   for name, value in self.values.items())

    def scale(self, name):
        """The norm of a value, or a share of that of all of its kind."""
        return max(self.norms[name], 1e-3 * self.totals[group(name)])

    def check_slopes(self):
        """How many slopes mean something: what has a kink or a jump within the step does not."""
        count = 0
        total = max((abs(slope["gradient"] or 0) for slope in self.report["slopes"]), default=0)
        for slope in self.report["slopes"]:
            gradient, whole, half = (slope[key] for key in ("gradient", "whole", "half"))
            if None in (gradient, whole, half):
                continue
            allowed = SLOPE * max(abs(gradient), abs(half)) + 1e-6 * (1e-2 + total)
            if abs(whole - half) > 0.1 * allowed:
                continue
            count += 1
            if abs(gradient - half) > allowed:
                raise Failure(f"slope: expected the gradient of {slope['parameter']} to be "
                              f"{half:.9g} along a direction, found {gradient:.9g}")
        return count

    def judge(self, what, name, distance, share, noises):
        allowed = share * self.scale(name) + noises * self.values[name]["noise"] + 1e-12
        if not (distance is not None and distance <= allowed):
            raise Failure(f"{what}: expected {name} within {allowed:.3e}, found a difference of "
                          f"{distance} (norm {self.norms[name]:.3e})")

    def check_plan(self, plan, found):
        for name, distance in found["distances"].items():
            self.judge(f"plan '{plan.name}'", name, distance, DOUBLE, DOUBLE_NOISES)

    def check_losses(self, what, losses, share, noises):
        for step, expected in enumerate(self.report["losses"]):
            allowed = (share * max(abs(expected), 1e-3)
                       + noises * self.report["loss_noise"][step])
            if not abs(losses[step] - expected) <= allowed:
                raise Failure(f"{what}: expected loss {expected:.9g} in step {step + 1} within "
                              f"{allowed:.1e}, found {losses[step]:.9g}")

    def check_dump(self, what, folder, f64):
        share, noises = (DOUBLE, DOUBLE_NOISES) if f64 else (SINGLE, NOISES)
        self.check_losses(what, np.load(os.path.join(folder, "loss.npy")).ravel(), share, noises)

        def dumped(name):
            path = os.path.join(folder, *(file_name(part) for part in name.split("/", 1))) + ".npy"
            return np.load(path).astype(np.float64).ravel() if os.path.exists(path) else None

        for name, value in self.values.items():
            kind, _, rest = name.partition("/")
            gradient = "grad/" + rest
            if name == "loss" or kind == "param" and gradient not in self.values:
                continue  # no files of a dump: what is not trained, momenta
            found = dumped(name)
            if found is None and kind in ("grad", "param") and dumped(gradient) is None:
                # The program has found the parameter unused: it has no gradient and stays.
                found = np.zeros(len(value["data"])) if kind == "grad" else value["data"]
            if found is None or len(found) != len(value["data"]):
                raise Failure(f"{what}: expected {len(value['data'])} elements of {name}, found "
                              f"{'no file' if found is None else len(found)}")
            self.judge(what, name, norm(found - value["data"]), share, noises)


class Checker:
    def __init__(self, folder_of_tools, work, f64):
        self.f64 = f64
        self.ffc = os.path.join(folder_of_tools, "ffc")
        self.evaluate = os.path.join(folder_of_tools, "ffc-evaluate")
        self.work = work

    def check(self, graph, seed, runs):
        """Returns what was found, or raises a Failure. `runs`: compile and run it too."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            model = os.path.join(folder, "graph.onnxtxt")
            with open(model, "w", encoding="utf-8") as file:
                file.write(graph.text())
            common = [self.ffc, model, "--loss", "mse", "--quiet"]
            made, programs = [], []
            for plan in plans(seed):
                path = os.path.join(folder, plan.name + ".mlir")
                call([*common, *plan.flags, "--emit=rank", "-o", path])
                if plan.evaluated:
                    made.append(plan)
                    programs += ["--program", path]
            expected = Expected(json.loads(call(
                [self.evaluate, model, "--loss", "mse", "--steps", str(STEPS), "--lr", str(RATE),
                 *programs])))
            if not expected.is_finite():
                return {"infinite": 1}
            slopes = expected.check_slopes()
            for plan, found in zip(made, expected.report["programs"]):
                expected.check_plan(plan, found)
            counts = {"sensitive": int(expected.is_sensitive()), "slopes": slopes,
                      "run": int(runs),
                      "smooth": int(slopes == len(expected.report["slopes"]))}
            if runs:
                plan = plans(seed)[seed % 4]
                program = os.path.join(folder, "train")
                precision = ["--precision=f64"] if self.f64 else []
                try:
                    call([*common, *plan.flags, *precision, "-o", program], timeout=300)
                except Failure as failure:
                    if not self.f64 or "expected no recurrent layers" not in str(failure):
                        raise
                    return {**counts, "run": 0, "recurrent": 1}
                dump = os.path.join(folder, "dump")
                run_program(program, plan.devices, [
                    "--steps", str(STEPS), "--lr", str(RATE), "--dump", dump], timeout=120)
                expected.check_dump(f"program '{plan.name}'", dump, self.f64)
            return counts


def kind_of(failure):
    """What two failures have in common if they are alike."""
    text = str(failure)
    lines = text.splitlines()
    if len(lines) > 1 and lines[1].startswith(("status", "no end")):
        what = next((line for line in lines[2:] if "error" in line), lines[1])
        return os.path.basename(lines[0].split()[0]) + what.split(":")[-1][-40:]
    return text.split(":")[0]


def report_failure(checker, graph, seed, runs, failure):
    kind = kind_of(failure)
    runs = runs and kind.startswith("program")
    last = [failure]

    def fails(smaller):
        try:
            checker.check(smaller, seed, runs)
        except Failure as found:
            if kind_of(found) == kind:
                last[0] = found
                return True
        return False

    small = shrink(graph, fails)
    print(f"graph {seed}, {len(small.nodes)} of {len(graph.nodes)} nodes:\n{small.text()}"
          f"{last[0]}\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", help="folder of ffc and ffc-evaluate")
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--nodes", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1, help="of the first graph")
    parser.add_argument("--run", type=int, default=5,
                        help="compile and run every so many; 0: none")
    parser.add_argument("--f64", action="store_true",
                        help="programs in f64; ffc builds their runtime first")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    counts, failures = {}, []
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(arguments.tools, work, arguments.f64)

        def one(seed):
            runs = arguments.run > 0 and seed % arguments.run == 0
            graph = draw(seed, arguments.nodes)
            try:
                return seed, graph, runs, checker.check(graph, seed, runs), None
            except Failure as failure:
                return seed, graph, runs, {}, failure

        seeds = range(arguments.seed, arguments.seed + arguments.graphs)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as threads:
            for seed, graph, runs, found, failure in threads.map(one, seeds):
                if failure:
                    failures.append(seed)
                    report_failure(checker, graph, seed, runs, failure)
                for key, value in found.items():
                    counts[key] = counts.get(key, 0) + value
    said = ", ".join(f"{key} {value}" for key, value in sorted(counts.items()))
    print(f"random_graphs: {len(failures)} of {arguments.graphs} failed {failures or ''}: {said}")
    # What is left out must be the exception.
    unused = counts.get("infinite", 0) + counts.get("recurrent", 0) + (
        0 if arguments.f64 else counts.get("sensitive", 0))
    if unused > 0.3 * arguments.graphs:
        print(f"random_graphs: expected few graphs that rounding changes, found {unused}")
        return 1
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
