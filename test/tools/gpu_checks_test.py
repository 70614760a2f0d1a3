"""What scripts/gpu-check does about checks, and about a machine that a test can make up."""

import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "scripts"))

from gpu_checks import calls, machine, runner


class Running(unittest.TestCase):
    def run_checks(self, *checks, budget=60, kept=()):
        active = runner.Runner(budget, 2, dict(kept), lambda results: None)
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
        self.assertEqual(found["a/1"], {"status": "not run", "note": "no time left"})

    def test_what_has_passed_is_kept(self):
        kept = {"a/1": {"status": "passed", "note": "before"},
                "a/2": {"status": "failed", "note": "before"}}
        found = self.run_checks(self.check("a/1", lambda _: "now"),
                                self.check("a/2", lambda _: "now"), kept=kept)
        self.assertEqual([result["note"] for result in found.values()], ["before", "now"])


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
