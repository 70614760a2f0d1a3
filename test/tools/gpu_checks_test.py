"""What scripts/gpu-check does about checks, and about a machine that a test can make up."""

import json
import os
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "scripts"))

from gpu_checks import calls, machine, plans, probes, programs, runner, speed


class Running(unittest.TestCase):
    def run_checks(self, *checks, budget=60, kept=()):
        active = runner.Runner(time.monotonic() + budget, 2, dict(kept), lambda results: None)
        active.run_all([check(active) for check in checks])
        return active.results

    def check(self, name, body, **arguments):
        arguments.setdefault("seconds", 20)
        return lambda active: runner.Check(name, lambda: body(active), **arguments)

    def test_what_becomes_of_checks(self):
        def fails(_):
            raise runner.Failed("wrong", [1])

        def says_nothing(_):
            raise runner.NotRun("no device")

        found = self.run_checks(
            self.check("a/1", lambda _: "fine"), self.check("a/2", fails),
            self.check("a/3", says_nothing), self.check("a/4", lambda _: 1 / 0),
            self.check("b/1", lambda _: ("two", {"x": 2}), alone=True))
        for result in found.values():
            result.pop("seconds", None)
        self.assertEqual(found, {
            "a/1": {"status": "passed", "note": "fine"},
            "a/2": {"status": "failed", "note": "wrong", "data": [1]},
            "a/3": {"status": "not run", "note": "no device"},
            "a/4": {"status": "failed", "note": "ZeroDivisionError: division by zero"},
            "b/1": {"status": "passed", "note": "two", "data": {"x": 2}}})

    def test_a_command_ends_with_its_check(self):
        def sleep(active):
            active.processes.run(["sh", "-c", "sleep 50; true"])

        start = time.monotonic()
        found = self.run_checks(self.check("a/1", sleep, seconds=1),
                                self.check("a/2", lambda _: "fine", alone=True))
        self.assertEqual(found["a/1"]["status"], "failed")
        self.assertIn("no end in the time that it may take", found["a/1"]["note"])
        self.assertEqual(found["a/2"]["status"], "passed")
        found = self.run_checks(self.check("a/1", sleep, least=1), budget=2)
        self.assertEqual(found["a/1"]["status"], "not run")
        self.assertIn("cut off: no end in the time", found["a/1"]["note"])
        self.assertLess(time.monotonic() - start, 20)

    def test_nothing_begins_when_the_time_is_over(self):
        found = self.run_checks(self.check("a/1", lambda _: "fine"), budget=0)
        self.assertEqual(found["a/1"],
                         {"status": "not run", "note": "no time left", "reached": False})

    def test_what_has_passed_is_kept(self):
        kept = {"a/1": {"status": "passed", "note": "before"},
                "a/2": {"status": "failed", "note": "before"}}
        found = self.run_checks(self.check("a/1", lambda _: "now"),
                                self.check("a/2", lambda _: "now"), kept=kept)
        self.assertEqual([result["note"] for result in found.values()], ["before", "now"])

    def test_what_was_not_reached_comes_before_what_failed(self):
        ran = []
        kept = {"a/1": {"status": "failed", "note": ""}, "build/1": {"status": "failed", "note": ""}}
        self.run_checks(*(self.check(name, lambda _, n=name: ran.append(n), alone=True)
                          for name in ("build/1", "a/1", "b/1")), kept=kept)
        self.assertEqual(ran, ["build/1", "b/1", "a/1"])

    def test_plans_choose_and_order(self):
        checks = [runner.Check(name, None, 1) for name in ("b/1/x", "a/2", "a/1", "ab/1", "c/1")]
        found = plans.ordered(checks, ("a/1", "c", "b/1", "a"))
        self.assertEqual([check.name for check in found], ["a/1", "c/1", "b/1/x", "a/2"])

    def test_what_hangs_three_times_is_not_tried_again(self):
        def hangs(_):
            raise runner.TimedOut("no end")

        found = self.run_checks(*(self.check(f"a/{number}", hangs, alone=True)
                                  for number in range(5)), self.check("b/1", lambda _: "fine"))
        self.assertEqual([result["status"] for result in found.values()],
                         3 * ["failed"] + 2 * ["not run"] + ["passed"])
        self.assertEqual(found["a/4"]["note"], "3 others did not end")

    def test_what_holds_the_output_of_a_command_ends_with_it(self):
        def start(active):
            active.processes.run(["sh", "-c", "setsid sleep 30 & sleep 50"])

        start_time = time.monotonic()
        found = self.run_checks(self.check("a/1", start, seconds=1))
        self.assertEqual(found["a/1"]["status"], "failed")
        self.assertLess(time.monotonic() - start_time, 10)

    def test_stopping_ends_what_runs(self):
        def stops(active):
            threading.Timer(0.5, active.stop).start()
            active.processes.run(["sleep", "50"])

        found = self.run_checks(self.check("a/1", stops),
                                self.check("b/1", lambda _: "fine", alone=True))
        self.assertIn("cut off: status -9", found["a/1"]["note"])
        self.assertEqual(found["b/1"]["note"], "no time left")

    def test_results_are_those_of_a_pack_and_a_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"pack": "p", "gpu": "g", "checks": {"a/1": {}}}, file)
            self.assertEqual(runner.load(path, {"pack": "p", "gpu": "g"}), {"a/1": {}})
            self.assertEqual(runner.load(path, {"pack": "p", "gpu": "h"}), {})
            self.assertEqual(runner.load(path, {"pack": "q", "gpu": "g"}), {})
            self.assertEqual(runner.load(os.path.join(folder, "none"), {}), {})
            first = runner.hash_of(folder)
            os.rename(path, path + ".old")
            self.assertNotEqual(runner.hash_of(folder), first)

    def test_what_was_measured_before_an_error(self):
        text = '{"x": 1}\nerror\n{"x": 2}\n{"x":'
        self.assertEqual(probes.rows(text), [{"x": 1}, {"x": 2}])


# Programs and PyTorch that train in no time, and how they go wrong. What ends does so before the
# 11 lines that five rounds read at least: a loaded machine may read no more.
PROGRAM = """#!/bin/sh
i=0
while [ $i -lt 100000 ]; do
  i=$((i + 1))
  [ "$FAKE" = ends ] && [ $i = 6 ] && { echo error: broken >&2; exit 1; }
  [ "$FAKE" = nan ] && echo "step $i/9  loss nan  100.0 ms/step" || \
    echo "step $i/9  loss 2.5  100.0 ms/step"
done
"""
TORCH = """
import json, os, sys
print("{}", flush=True)
for line in sys.stdin:
    word, *rest = line.split()
    if word == "prepare":
        answer = {mode: "failed: no compiler" if mode == os.environ["FAKE"] else "ready"
                  for mode in rest}
    else:
        answer = 200.0
    print(json.dumps(answer), flush=True)
"""


class Speed(unittest.TestCase):
    def measured(self, fake):
        """The result of the only check."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ("timed-mlp-f32", PROGRAM), ("step_torch_gpu.py", TORCH):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(path, 0o755)
            facts = {"timed": {"mlp": {"batch": 8, "length": 0, "line": 4,
                                       "precisions": ["f32"]}}}
            active = runner.Runner(time.monotonic() + 200, 1, {}, lambda results: None)
            ready = programs.Programs(folder, folder, folder, active.processes)
            checks = speed.Speed(facts, folder, folder, ready, ["eager", "compile"]).checks()
            os.environ["FAKE"] = fake
            try:
                active.run_all(list(checks))
            finally:
                del os.environ["FAKE"]
            return active.results["speed/mlp/f32"]

    def test_times(self):
        found = self.measured("")
        self.assertEqual(found["note"],
                         "f32: ffc 100.000 ms, eager 200.000 ms, compile 200.000 ms")
        self.assertEqual(found["status"], "passed")

    def test_what_goes_wrong_is_said_and_the_rest_measured(self):
        found = self.measured("compile")
        self.assertEqual(found["status"], "failed")
        self.assertEqual(found["note"], "f32: PyTorch compile: failed: no compiler")
        self.assertEqual(found["data"][0]["ffc"]["ms"], 100)
        self.assertEqual(found["data"][0]["eager"]["ms"], 200)
        found = self.measured("ends")
        self.assertEqual(found["status"], "failed")
        self.assertIn("f32: ended with status 1: error: broken", found["note"])
        self.assertIn("f32: expected finite losses, found nan", self.measured("nan")["note"])


class Machine(unittest.TestCase):
    def test_libraries_of_python_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in "include/cudnn.h", "lib/libcudnn.so.9", "lib/libcudnn_ops.so.9":
                path = os.path.join(folder, "nvidia", "cudnn", path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                open(path, "w", encoding="utf-8").close()
            sys.path.insert(0, folder)
            try:
                self.assertEqual(machine.find_library("cudnn.h", "cudnn"),
                                 (f"{folder}/nvidia/cudnn/lib/libcudnn.so.9",
                                  f"{folder}/nvidia/cudnn/include"))
                self.assertIn(f"{folder}/nvidia/cudnn/lib",
                              machine.library_path()["LD_LIBRARY_PATH"].split(os.pathsep))
            finally:
                sys.path.remove(folder)
            self.assertIsNone(machine.find_library("cudnn.h", "nothing"))


class Calls(unittest.TestCase):
    def found(self, **counts):
        return {"launches": 30, "calls": counts, "sizes": [100 + calls.GUARDS, 7,
                                                            200 + calls.GUARDS]}

    def test_memory(self):
        note, data = calls.judge_memory(self.found(cudaLaunchKernel=9), [200, 100])
        self.assertIn("300 planned bytes, 7 for kernels and libraries", note)
        self.assertEqual(data["others"], [7])
        with self.assertRaisesRegex(runner.Failed, "expected 300 planned bytes"):
            calls.judge_memory(self.found(), [300])
        for name in "cudaMalloc", "cudaFree", "cuMemCreate", "cudaMallocAsync_v11020":
            with self.assertRaisesRegex(runner.Failed, f"allocates in its steps: 3 x {name} in 30"):
                calls.judge_memory(self.found(**{name: 3}), [100, 200])

    def test_waits(self):
        calls.judge_waits(self.found(cudaMemcpyAsync=3, cudaEventSynchronize=2), [])
        for name in ("cudaStreamSynchronize", "cudaStreamSynchronize_ptsz", "cudaMemcpy",
                     "cuMemcpyHtoD_v2", "cudaDeviceSynchronize", "cuCtxSynchronize"):
            with self.assertRaisesRegex(runner.Failed, f"waits in its steps: 2 x {name}"):
                calls.judge_waits(self.found(**{name: 2}), [])


if __name__ == "__main__":
    unittest.main()
