"""When two runs of a model count as equal, whatever their strategies.

The rule, for f32 programs at learning rate 0.01 and momentum 0.9:

  * losses over 10 steps agree within 5e-6 relative, and the loss moves;
  * every gradient after step 1, and every parameter after step 10, agrees with
    its reference g within 1e-3 max(|g|, 1e-4 G), where |g| is the L2 norm and G
    the norm over all gradients, or all parameters.

Where programs round to bf16 and their sums are taken in other orders, a sum that
differs in the last bit of f32 may become another bf16: there the rule has a slack,
a factor of all that is allowed. So it has for fp16 compared with f32. Programs of
another precision may have bounds of their own instead, with another share of G: a
gradient that is zero but for rounding, as that of the biases of keys (softmax takes no
notice of what all scores have in common), is as large as the rounding of what cancels.

As a program: compare_runs.py REFERENCE OTHER, each a folder that holds the dumps
step1/ and step10/.
"""

import math
import os
import sys
from typing import NamedTuple

import numpy as np

from programs import Failure


class Bounds(NamedTuple):
    """How far losses may be, and tensors, and the share of the norm of all that a tensor
    counts as at least; those of the rule."""
    loss: float = 5e-6
    tensor: float = 1e-3
    small: float = 1e-4

    def times(self, slack):
        return self._replace(loss=slack * self.loss, tensor=slack * self.tensor)


RULE = Bounds()


def norm(values):
    """L2 norm, summed in double precision."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return math.sqrt(float(np.dot(flat, flat)))


def judge(name, error, reference_norm, total_norm, bounds=RULE):
    """Checks one tensor; returns its error in units of what is allowed."""
    allowed = bounds.tensor * max(reference_norm, bounds.small * total_norm)
    if not error <= allowed:
        raise Failure(
            f"{name}: expected a difference of at most {allowed:.3e}, found "
            f"{error:.3e} (norm {reference_norm:.3e} of {total_norm:.3e})"
        )
    return error / allowed if allowed else 0.0


def tensors(folder):
    """Paths of the dumped tensors in `folder`, by file name."""
    if not os.path.isdir(folder):
        raise Failure(f"expected dumps in '{folder}', found no such folder")
    found = {name: os.path.join(folder, name) for name in sorted(os.listdir(folder))
             if name.endswith(".npy")}
    if not found:
        raise Failure(f"expected dumps in '{folder}', found none")
    return found


def compare_tensors(reference, other, bounds=RULE):
    """Judges all tensors of a folder; returns the largest relative error."""
    ours, theirs = tensors(reference), tensors(other)
    if set(ours) != set(theirs):
        raise Failure(f"expected the files {sorted(ours)} in '{other}', found "
                      f"{sorted(theirs)}")
    norms = {name: norm(np.load(path)) for name, path in ours.items()}
    total = math.sqrt(sum(n * n for n in norms.values()))
    if not total > 0 or not math.isfinite(total):
        raise Failure(f"'{reference}': expected finite values other than 0, found "
                      f"norm {total}")
    worst = 0.0
    for name, path in ours.items():
        a, b = np.load(path), np.load(theirs[name])
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Failure(f"'{theirs[name]}': expected {a.dtype} {a.shape}, found "
                          f"{b.dtype} {b.shape}")
        error = norm(a.astype(np.float64) - b)
        worst = max(worst, judge(theirs[name], error, norms[name], total, bounds))
    return worst


def compare_losses(reference, other, bounds=RULE):
    """Judges the losses of all steps; returns the largest relative error."""
    a, b = (np.load(os.path.join(f, "loss.npy")).astype(np.float64)
            for f in (reference, other))
    if a.shape != b.shape or a.size == 0:
        raise Failure(f"'{other}': expected {a.size} losses, found {b.size}")
    if not np.all(np.isfinite(a)):
        raise Failure(f"'{reference}': expected finite losses, found {a}")
    if a.size > 1 and not np.ptp(a) > 1e-4 * abs(a[0]):
        raise Failure(f"'{reference}': expected losses that move, found {a}")
    errors, allowed = np.abs(a - b) / np.abs(a), bounds.loss
    if not np.all(errors <= allowed):
        step = int(np.argmax(~(errors <= allowed)))
        raise Failure(
            f"'{other}': loss of step {step + 1}: expected {a[step]:.9g} within "
            f"{allowed:g}, found {b[step]:.9g} ({errors[step]:.2e} away)"
        )
    return float(errors.max())


def compare_runs(reference, other, bounds=RULE):
    """Applies the rule to two runs; returns a line that says how close they
    are."""
    def step(run, number):
        return os.path.join(run, f"step{number}")

    losses = compare_losses(step(reference, 10), step(other, 10), bounds)
    gradients = compare_tensors(os.path.join(step(reference, 1), "grad"),
                                os.path.join(step(other, 1), "grad"), bounds)
    parameters = compare_tensors(os.path.join(step(reference, 10), "param"),
                                 os.path.join(step(other, 10), "param"), bounds)
    return (f"losses within {losses:.1e} (of {bounds.loss:g}), gradients at "
            f"{gradients:.1%} and parameters at {parameters:.1%} of what is allowed")


# How far a run may be from another after a kink: elements of few windows took another way.
KINK = Bounds(loss=1e-4, tensor=2e-2)


def expect_kink(reference, other, bounds=RULE):
    """Fails unless a kink explains that two runs differ: it does not move the loss of step 1, where
    parameters are the same, and the rest by little."""
    def step(run, number, *kind):
        return os.path.join(run, f"step{number}", *kind)

    compare_losses(step(reference, 1), step(other, 1), bounds)
    compare_tensors(step(reference, 1, "grad"), step(other, 1, "grad"), KINK)
    compare_losses(step(reference, 10), step(other, 10), KINK)
    compare_tensors(step(reference, 10, "param"), step(other, 10, "param"), KINK)


# How much farther from an exact run another one may be that rounds as much.
FARTHER = 2.0


def compare_rounding(exact, rounded, other, bounds):
    """Judges a run by its distance from an exact one, which may be FARTHER times that of a run
    which rounds to the same type. Where values cancel, and once training has amplified a last
    bit, two such runs are as far from each other as from the exact one."""
    def files(folder):
        return tensors(os.path.join(*folder))

    def judge_all(number, kind):
        runs = [files((run, f"step{number}", kind)) for run in (exact, rounded, other)]
        if set(runs[0]) != set(runs[2]):
            raise Failure(f"expected the files {sorted(runs[0])} in '{other}', found "
                          f"{sorted(runs[2])}")
        values = {name: [np.load(run[name]).astype(np.float64) for run in runs]
                  for name in runs[0]}
        total = math.sqrt(sum(norm(a) ** 2 for a, _, _ in values.values()))
        worst = 0.0
        for name, (a, near, b) in values.items():
            allowed = (FARTHER * norm(near - a)
                       + bounds.tensor * max(norm(a), bounds.small * total))
            error = norm(b - a)
            if not error <= allowed:
                raise Failure(f"{runs[2][name]}: expected a distance of at most {allowed:.3e} from "
                              f"the exact one, found {error:.3e}")
            worst = max(worst, error / allowed if allowed else 0.0)
        return worst

    gradients = judge_all(1, "grad")
    a, near, b = (np.load(os.path.join(run, "step10", "loss.npy")).astype(np.float64)
                  for run in (exact, rounded, other))
    allowed = FARTHER * np.max(np.abs(near - a) / np.abs(a)) + bounds.loss
    error = np.max(np.abs(b - a) / np.abs(a))
    if not error <= allowed:
        raise Failure(f"'{other}': expected losses within {allowed:.1e} of exact ones, found "
                      f"{error:.1e}")
    parameters = judge_all(10, "param")
    return (f"as far from f32 as the CPU: losses within {error:.1e} (of {allowed:.1e}), gradients "
            f"at {gradients:.1%} and parameters at {parameters:.1%} of what is allowed")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: compare_runs.py REFERENCE OTHER")
    try:
        print(compare_runs(sys.argv[1], sys.argv[2]))
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
