#!/usr/bin/env python3
"""Compiles small graphs that are drawn at random, by ffc's default command.

Graphs are trained, or, a quarter of them, without a loss and with outputs of any type. Each is
planned for one device, searched for several, and planned by random strategies, by pipelines and
with recomputation; --plans some: by two of these, by turns. All ranks of each plan are evaluated
in double precision (ffc-evaluate) and agree with the graph as it was imported; its gradients agree
with finite differences, its outputs with ONNX Runtime and the Python package onnx where they are
installed. Every --run-th graph is compiled as well: losses, outputs, gradients and parameters of
the program agree with double precision as far as the graph is not too sensitive to rounding; with
--f64 they are programs in f64, which agree as exactly as plans do. With --runtime and --link, g++
compiles the programs of --batch graphs together. Graphs that fail are made smaller and printed.
What ffc refuses must be of a kind that graph_refusals.py lists.
"""

import argparse
import concurrent.futures
import os
import random
import shlex
import sys
import tempfile

from graph_checker import Case, Checker, Refusal, all_plans, some_plans
from graph_generator import draw
from graph_refusals import is_known
from graph_shrinker import shrink
from program_batch import Toolchain, build_programs
from programs import Failure


SHRUNK = 3  # graphs of a kind of failure that are made smaller; others are only named


def kind_of(failure):
    """What two failures have in common if they are alike."""
    text = str(failure)
    if isinstance(failure, Refusal):
        return "refused: " + text
    lines = text.splitlines()
    if len(lines) > 1 and lines[1].startswith(("status", "no end")):
        what = next((line for line in lines[2:] if "error" in line), lines[1])
        return os.path.basename(lines[0].split()[0]) + what.split(":")[-1][-40:]
    return text.split(":")[0]


def case_of(seed, most):
    """Few graphs are tiny, a quarter is not trained."""
    dice = random.Random(seed)
    nodes = dice.randrange(1, 6) if dice.random() < 0.15 else dice.randrange(min(6, most), most + 1)
    trains = dice.random() < 0.75
    return Case(seed, draw(seed, nodes, bare=not trains), trains)


class Report:
    def __init__(self, checker, trials):
        self.checker, self.trials = checker, trials
        self.counts, self.failed, self.refusals, self.kinds = {}, [], {}, {}

    def add(self, counts):
        for key, value in counts.items():
            self.counts[key] = self.counts.get(key, 0) + value

    def failure(self, case, failure, runs):
        if isinstance(failure, Refusal) and is_known(str(failure)):
            self.refusals.setdefault(str(failure), []).append(case.seed)
            return
        self.failed.append(case.seed)
        kind = kind_of(failure)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if self.kinds[kind] > SHRUNK:
            print(f"graph {case.seed}: {str(failure).splitlines()[-1]}\n", flush=True)
            return
        runs = runs and kind.startswith("program")
        last = [failure]

        def fails(smaller):
            try:
                self.checker.check_alone(Case(case.seed, smaller, case.trains), runs)
            except (Failure, Refusal) as found:
                if kind_of(found) == kind:
                    last[0] = found
                    return True
            return False

        small = shrink(case.graph, fails, self.trials, case.trains)
        print(f"graph {case.seed}, {len(small.nodes)} of {len(case.graph.nodes)} nodes:\n"
              f"{small.text()}{last[0]}\n", flush=True)


class Batches:
    """Checks graphs, and compiles the programs of several together."""

    def __init__(self, arguments, checker):
        self.arguments, self.checker = arguments, checker
        self.tools = Toolchain([os.path.join(arguments.runtime, "include")],
                               shlex.split(arguments.kernel_flags),
                               arguments.link) if arguments.link else None

    def runs(self, seed):
        return self.arguments.run > 0 and seed % self.arguments.run == 0

    def one(self, seed):
        """(case, counts, expected, failure)"""
        case = case_of(seed, self.arguments.nodes)
        try:
            if self.runs(seed) and not self.tools:
                return case, self.checker.check_alone(case, True), None, None
            return case, *self.checker.check(case), None
        except (Failure, Refusal) as failure:
            return case, {}, None, failure

    def check(self, seeds):
        found = [self.one(seed) for seed in seeds]
        to_run = [i for i, (case, _, expected, _) in enumerate(found)
                  if expected and self.runs(case.seed) and self.tools]
        if to_run:
            with tempfile.TemporaryDirectory(dir=self.checker.work) as folder:
                self.run_together(found, to_run, folder)
        return [(case, counts, failure) for case, counts, _, failure in found]

    def run_together(self, found, to_run, work):
        sources, folders = {}, {}
        for i in to_run:
            case, counts, expected, _ = found[i]
            name = f"g{case.seed}"
            folders[name] = os.path.join(work, name)
            os.mkdir(folders[name])
            try:
                sources[name] = self.checker.emit(case, folders[name], self.arguments.runtime)
            except (Failure, Refusal) as failure:
                found[i] = case, counts, expected, failure
        built = build_programs(sources, os.path.join(work, "run"), self.tools) if sources else {}
        for i in to_run:
            case, counts, expected, failure = found[i]
            name = f"g{case.seed}"
            if failure:
                continue
            try:
                if isinstance(built[name], Failure):
                    raise Failure(f"program: {built[name]}")
                program = os.path.join(folders[name], "run")
                os.link(built[name], program)
                weights = os.path.join(sources[name], "train.weights")
                if os.path.exists(weights):
                    os.rename(weights, program + ".weights")
                self.checker.run(case, expected, program, folders[name], [name])
                found[i] = case, {**counts, "run": 1}, expected, None
            except Failure as failed:
                found[i] = case, counts, expected, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", help="folder of ffc and ffc-evaluate")
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--nodes", type=int, default=25, help="at most, but for the end")
    parser.add_argument("--seed", type=int, default=1, help="of the first graph")
    parser.add_argument("--plans", choices=["some", "all"], default="all")
    parser.add_argument("--run", type=int, default=5,
                        help="compile and run every so many; 0: none")
    parser.add_argument("--f64", action="store_true",
                        help="programs in f64; ffc builds their runtime first")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trials", type=int, default=300,
                        help="smaller graphs that are tried of one that fails")
    parser.add_argument("--batch", type=int, default=24, help="graphs that are checked together")
    parser.add_argument("--runtime", help="folder of its sources")
    parser.add_argument("--kernel-flags", default="", help="of g++, for fused kernels")
    parser.add_argument("--link", action="append", default=[], help="what programs are linked with")
    arguments = parser.parse_args()
    if arguments.f64:
        arguments.link = []
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(arguments.tools, work,
                          all_plans if arguments.plans == "all" else some_plans, arguments.f64)
        batches, report = Batches(arguments, checker), Report(checker, arguments.trials)
        seeds = range(arguments.seed, arguments.seed + arguments.graphs)
        parts = [seeds[i:i + arguments.batch] for i in range(0, len(seeds), arguments.batch)]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as threads:
            for number, part in enumerate(threads.map(batches.check, parts), 1):
                print(f"{min(number * arguments.batch, arguments.graphs)} graphs", flush=True)
                for case, counts, failure in part:
                    report.add(counts)
                    if failure:
                        report.failure(case, failure, batches.runs(case.seed))
    return summary(arguments, report)


def summary(arguments, report):
    counts = report.counts
    for kind, seeds in sorted(report.refusals.items()):
        print(f"refused {len(seeds)} times, first graph {seeds[0]}: {kind}")
    refused = sum(map(len, report.refusals.values()))
    said = ", ".join(f"{key} {value}" for key, value in sorted(counts.items()))
    print(f"random_graphs: {len(report.failed)} of {arguments.graphs} failed "
          f"{report.failed or ''}: refused {refused}, {said}")
    # What is left out must be the exception.
    unused = refused + counts.get("infinite", 0) + counts.get("recurrent", 0) + (
        0 if arguments.f64 else counts.get("sensitive", 0))
    if unused > 0.3 * arguments.graphs:
        print(f"random_graphs: expected few graphs that are refused, or that rounding changes, "
              f"found {unused}")
        return 1
    return len(report.failed) > 0


if __name__ == "__main__":
    sys.exit(main())
