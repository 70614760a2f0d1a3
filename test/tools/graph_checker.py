"""Checks of one graph: its plans, what others compute of it, its programs."""

import json
import os
import random
import re
import subprocess
import tempfile

from graph_expected import Expected
from graph_oracle import oracles
from programs import Failure, run_program

STEPS, RATE = 2, 0.05
ERROR = "ffc: error: "


class Plan:
    """Flags of ffc under which a graph is planned."""

    def __init__(self, name, devices, *flags, evaluated=True):
        self.name, self.devices, self.evaluated = name, devices, evaluated
        self.flags = ["--devices", f"cpu:{devices}", *flags]


class Refusal(Exception):
    """A graph that ffc says it does not take; the text is the kind."""


def all_plans(seed, trains):
    draw_from = random.Random(seed)
    several = draw_from.choice([2, 3, 4])
    strategy = f"random:{seed}"
    plans = [
        Plan("one", 1),
        Plan("searched", several),
        Plan("random", several, "--strategy", strategy),
        Plan("random-unfused", several, "--strategy", strategy, "--fuse=off"),
    ]
    if trains:
        plans += [
            Plan("pipeline", several, "--strategy", f"random-pipeline:{seed}"),
            Plan("recompute", several, "--strategy", f"random-recompute:{seed}"),
            Plan("bf16", 2, "--search-budget", "100", "--precision", "bf16", evaluated=False),
        ]
    return plans


def some_plans(seed, trains):
    """Two of them, all by turns."""
    plans = all_plans(seed, trains)
    if not trains:
        return [plans[seed % 4]]
    return [plans[seed % 4], plans[4 + seed // 4 % 3]]


def refusal_of(message):
    """The kind of a refusal, without names and numbers, or None."""
    lines = [line for line in message.splitlines() if line.startswith(ERROR)]
    if not lines:
        return None
    line = re.sub(r"^\S*graph\.onnx(:\d+)*: ", "", lines[0][len(ERROR):])
    line = re.sub(r"^node '[^']*' \(([\w.]+)\): ", r"\1: ", line)
    line = re.sub(r" \(\d+: [^)]*\)", "", line)
    line = re.sub(r"'[^']*'", "'_'", line)
    return re.sub(r"-?\d+(\.\d+)?(x\d+)*", "N", line)


def call(command, timeout=120):
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout,
                             errors="replace")
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)}\nno end after {timeout} s") from None
    if run.returncode == 1 and refusal_of(run.stderr):
        raise Refusal(refusal_of(run.stderr))
    if run.returncode:
        raise Failure(f"{' '.join(command)}\nstatus {run.returncode}\n{run.stderr[-3000:]}")
    return run.stdout


def batch_of(graph):
    """The flag that says how many samples there are, if that is open."""
    x = graph.inputs[0]
    is_read = x.name in graph.outputs or any(x.name in node.reads() for node in graph.nodes)
    return ["--batch-size", str(x.shape[0])] if graph.batch and is_read else []


class Case:
    """A graph, whether it is trained, and what is made of it."""

    def __init__(self, seed, graph, trains):
        self.seed, self.graph, self.trains = seed, graph, trains
        batch = batch_of(graph)
        self.evaluation = [*batch]
        self.flags = [*batch, "--quiet"]
        if trains:
            self.evaluation += ["--loss", "mse", "--steps", str(STEPS), "--lr", str(RATE)]
            self.flags += ["--loss", "mse"]
        else:
            self.evaluation += ["--forward"]
            self.flags += ["--mode=infer", "--loss=none"]

    def run_flags(self):
        return ["--steps", str(STEPS), "--lr", str(RATE)] if self.trains else ["--steps", "1"]


def hangs_on_last_bits(expected, oracle):
    """Whether what ffc computes lies between answers that an oracle has for nearly the same
    inputs."""
    answers = list(oracle.shaken_outputs())
    if not answers:
        return False
    try:
        expected.check_outputs(oracle.name, {
            name: expected.nearest(name, [outputs[name] for outputs in answers])
            for name in answers[0]})
        return True
    except Failure:
        return False


class Checker:
    def __init__(self, folder_of_tools, work, plans=some_plans, f64=False):
        self.f64, self.plans = f64, plans
        self.ffc = os.path.join(folder_of_tools, "ffc")
        self.evaluate = os.path.join(folder_of_tools, "ffc-evaluate")
        self.work = work

    def write(self, case, folder):
        model = os.path.join(folder, "graph.onnx")
        with open(model, "wb") as file:
            file.write(case.graph.model())
        return model

    def evaluated(self, model, flags, programs=()):
        return Expected(json.loads(call([self.evaluate, model, *flags, *programs])))

    def check(self, case):
        """(what was found, what programs have to compute) or a Failure or a Refusal."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            model = self.write(case, folder)
            made, programs = [], []
            for plan in self.plans(case.seed, case.trains):
                path = os.path.join(folder, plan.name + ".mlir")
                call([self.ffc, model, *case.flags, *plan.flags, "--emit=rank", "-o", path])
                if plan.evaluated:
                    made.append(plan)
                    programs += ["--program", path]
            counts = self.compare_with_others(case, model)
            expected = self.evaluated(model, case.evaluation, programs)
            if not expected.is_finite():
                return {**counts, "infinite": 1}, None
            slopes = expected.check_slopes()
            for plan, found in zip(made, expected.report["programs"]):
                expected.check_plan(plan.name, found)
            return {**counts, "sensitive": int(expected.is_sensitive()), "slopes": slopes,
                    "smooth": int(slopes == len(expected.report["slopes"]))}, expected

    def compare_with_others(self, case, model):
        batch = batch_of(case.graph)
        expected = self.evaluated(model, [*batch, "--forward"])
        if not expected.is_finite():
            return {}
        failures = []
        for oracle in oracles(case.graph, expected.report):
            outputs = oracle.outputs()
            if outputs is None:
                continue
            try:
                expected.check_outputs(oracle.name, outputs)
                return {oracle.name: 1}
            except Failure as found:
                failures.append((found, oracle))
        if not failures or expected.is_sensitive():
            return {}
        if all(hangs_on_last_bits(expected, oracle) for _, oracle in failures):
            return {"last bits": 1}
        raise failures[0][0]  # nobody agrees

    def plan_to_run(self, case):
        return random.Random(case.seed).choice(all_plans(case.seed, case.trains)[:4])

    def emit(self, case, folder, runtime):
        """The folder of the source of a program, which is to be built with this runtime."""
        plan = self.plan_to_run(case)
        source = os.path.join(folder, "source")
        call([self.ffc, self.write(case, folder), *case.flags, *plan.flags, "--emit=source",
              "--runtime", runtime, "-o", source])
        return source

    def compile(self, case, folder):
        """The path of a program of its own, or None where --f64 has none."""
        plan = self.plan_to_run(case)
        program = os.path.join(folder, "train")
        precision = ["--precision=f64"] if self.f64 else []
        try:
            call([self.ffc, self.write(case, folder), *case.flags, *plan.flags, *precision, "-o",
                  program], timeout=300)
        except Refusal as refusal:
            if not self.f64 or "expected no recurrent layers" not in str(refusal):
                raise
            return None
        return program

    def run(self, case, expected, program, folder, arguments=()):
        plan = self.plan_to_run(case)
        dump = os.path.join(folder, "dump")
        run_program(program, plan.devices, [*arguments, *case.run_flags(), "--dump", dump],
                    timeout=120)
        expected.check_dump(f"program '{plan.name}'", dump, self.f64)

    def check_alone(self, case, runs):
        """All of it, with a program of its own, if `runs`."""
        counts, expected = self.check(case)
        if runs and expected:
            with tempfile.TemporaryDirectory(dir=self.work) as folder:
                program = self.compile(case, folder)
                if not program:
                    return {**counts, "recurrent": 1}
                self.run(case, expected, program, folder)
            counts["run"] = 1
        return counts
