"""The rule of equality says yes and no where it should."""

import os
import tempfile
import unittest

import numpy as np

from compare_runs import Bounds, compare_rounding, compare_runs
from programs import Failure


class Rule(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tensors = {"w": np.ones((30, 40)), "b": np.full(10, 1e-6)}
        self.losses = np.linspace(2.3, 2.2, 10)
        self.write("reference", self.losses, self.tensors)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, *parts):
        path = os.path.join(self.folder.name, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, run, losses, gradients, parameters=None):
        np.save(self.path(run, "step10", "loss.npy"), losses)
        for name, value in gradients.items():
            np.save(self.path(run, "step1", "grad", name), value.astype(np.float32))
        for name, value in (parameters or self.tensors).items():
            np.save(self.path(run, "step10", "param", name), value.astype(np.float32))

    def compare(self):
        return compare_runs(self.path("reference"), self.path("other"))

    def test_equal(self):
        self.write("other", self.losses, self.tensors)
        self.compare()

    def test_rounding_is_allowed(self):
        near = dict(self.tensors, w=self.tensors["w"] * (1 + 1e-4))
        self.write("other", self.losses * (1 + 1e-6), near, near)
        self.compare()

    def test_other_bounds(self):
        far = dict(self.tensors, w=self.tensors["w"] * 1.1)
        self.write("other", self.losses * (1 + 1e-3), far, far)
        found = compare_runs(self.path("reference"), self.path("other"), Bounds(2e-3, 0.2))
        self.assertIn("(of 0.002), gradients at 50.0%", found)
        with self.assertRaises(Failure):
            compare_runs(self.path("reference"), self.path("other"), Bounds(2e-3, 0.09))

    def test_small_tensors_are_judged_by_the_whole(self):
        self.write("other", self.losses, dict(self.tensors, b=np.full(10, 1.2e-6)))
        self.compare()
        with self.assertRaisesRegex(Failure, "b.npy: expected a difference of at most"):
            compare_runs(self.path("reference"), self.path("other"), Bounds(small=1e-9))

    def expect(self, text):
        with self.assertRaisesRegex(Failure, text):
            self.compare()

    def test_a_gradient(self):
        self.write("other", self.losses,
                   dict(self.tensors, w=self.tensors["w"] * 1.002))
        self.expect("grad/w.npy: expected a difference of at most")

    def test_a_parameter(self):
        wrong = dict(self.tensors, b=np.full(10, 1e-3))
        self.write("other", self.losses, self.tensors, wrong)
        self.expect("param/b.npy: expected a difference of at most")

    def test_a_block_of_a_gradient(self):
        wrong = self.tensors["w"].copy()
        wrong[0, :4] = 0
        self.write("other", self.losses, dict(self.tensors, w=wrong))
        self.expect("grad/w.npy")

    def test_a_loss(self):
        losses = self.losses.copy()
        losses[6] *= 1 + 1e-5
        self.write("other", losses, self.tensors)
        self.expect("loss of step 7")

    def test_no_number(self):
        losses = self.losses.copy()
        losses[2] = np.nan
        self.write("other", losses, self.tensors)
        self.expect("loss of step 3")

    def test_a_missing_parameter(self):
        self.write("other", self.losses, {"w": self.tensors["w"]})
        self.expect("expected the files")

    def test_rounding_as_much(self):
        """Of `exact`, which is the reference, another run may be twice as far away."""
        rng = np.random.default_rng(1)

        def rounded(run, size):
            some = {name: value * (1 + size * rng.standard_normal(value.shape))
                    for name, value in self.tensors.items()}
            self.write(run, self.losses * (1 + size), some, some)

        def judge(other):
            return compare_rounding(self.path("reference"), self.path("near"), self.path(other),
                                    Bounds(1e-6, 1e-6))
        rounded("near", 1e-2)
        rounded("as-near", 1.5e-2)
        self.assertIn("as far from f32 as the CPU: losses within 1.5e-02", judge("as-near"))
        self.write("far", self.losses * (1 + 2.5e-2), self.tensors)
        with self.assertRaisesRegex(Failure, "expected losses within"):
            judge("far")
        self.write("far", self.losses, dict(self.tensors, w=self.tensors["w"] * 1.03))
        with self.assertRaisesRegex(Failure, "step1/grad/w.npy: expected a distance of at most"):
            judge("far")
        self.write("missing", self.losses, {"w": self.tensors["w"]})
        with self.assertRaisesRegex(Failure, "expected the files"):
            judge("missing")

    def test_losses_that_stand_still(self):
        still = np.full(10, 2.3)
        self.write("reference", still, self.tensors)
        self.write("other", still, self.tensors)
        self.expect("losses that move")


if __name__ == "__main__":
    unittest.main()
