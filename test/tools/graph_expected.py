"""What ffc-evaluate says of a graph, and how far plans and programs may be from it."""

import os

import numpy as np

from programs import Failure, file_name

# Of f32 programs beside the noise of f32, of double precision, and of finite differences.
SINGLE, DOUBLE, SLOPE = 2e-5, 1e-9, 1e-4
NOISES = 30
DOUBLE_NOISES = NOISES * 2.0**-29 # rounding of double precision is 2^-29 of that of f32
# A value moved so far by rounding says little; most graphs have none such.
SENSITIVE = 1e-3


def norm(numbers):
    return float(np.linalg.norm(np.asarray(numbers, dtype=np.float64).ravel()))


def group(name):
    return name.split("/")[0]


class Expected:
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
        return (None not in numbers and all(
            value["noise"] is not None and np.isfinite(value["data"]).all()
            for name, value in self.values.items() if self.is_computed(name)))

    def is_computed(self, name):
        """Not a constant, which may be infinite as a mask's numbers are."""
        kind, _, rest = name.partition("/")
        return kind != "param" or "grad/" + rest in self.values

    def is_moved(self, name):
        return self.values[name]["noise"] > SENSITIVE * self.scale(name)

    def is_sensitive(self):
        return any(self.is_moved(name) for name in self.values if self.is_computed(name))

    def jumps(self, name):
        """Does rounding move it, or the gradient that it was updated by, by much?"""
        gradient = "grad/" + name.partition("/")[2].removesuffix("/momentum")
        return self.is_moved(name) or gradient in self.values and self.is_moved(gradient)

    def scale(self, name):
        """The norm of a value, or a share of that of all of its kind. What is nothing in double
        precision has cancelled out, and rounding leaves some of it."""
        share = 1e-3 if self.norms[name] else 5e-2
        return max(self.norms[name], share * self.totals[group(name)])

    def check_slopes(self):
        """How many slopes mean something: what has a kink or a jump within the step, or where it
        begins (as bilinear sampling at whole positions has), does not."""
        count = 0
        total = max((abs(slope["gradient"] or 0) for slope in self.report["slopes"]), default=0)
        for slope in self.report["slopes"]:
            gradient, whole, half, kink = (slope[key]
                                           for key in ("gradient", "whole", "half", "kink"))
            if None in (gradient, whole, half, kink):
                continue
            allowed = SLOPE * max(abs(gradient), abs(half)) + 1e-6 * (1e-2 + total)
            if max(abs(whole - half), abs(kink)) > 0.1 * allowed:
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

    def check_plan(self, name, found):
        for value, distance in found["distances"].items():
            if not self.is_computed(value):
                continue
            # As a comparison of equal sums does, whatever the precision.
            self.judge(f"plan '{name}'", value, distance, DOUBLE,
                       2 if self.jumps(value) else DOUBLE_NOISES)

    def check_outputs(self, what, outputs):
        """Arrays by the names of outputs, computed with floats of 32 bits."""
        for name, found in outputs.items():
            name = "out/" + name
            found = np.asarray(found)
            if list(found.shape) != self.values[name]["shape"]:
                raise Failure(f"{what}: expected {name} of shape {self.values[name]['shape']}, "
                              f"found {list(found.shape)}")
            self.judge(what, name, norm(found.astype(np.float64).ravel()
                                        - self.values[name]["data"]), SINGLE, NOISES)

    def nearest(self, name, answers):
        """What lies between the answers, and next to the output of this name."""
        value = self.values["out/" + name]
        answers = [np.asarray(answer, dtype=np.float64) for answer in answers
                   if list(np.shape(answer)) == value["shape"]]
        if not answers:
            return np.empty(0)
        return np.clip(value["data"].reshape(value["shape"]), np.min(answers, 0),
                       np.max(answers, 0))

    def check_losses(self, what, losses, share, noises):
        for step, expected in enumerate(self.report["losses"]):
            allowed = (share * max(abs(expected), 1e-3)
                       + noises * self.report["loss_noise"][step])
            if not abs(losses[step] - expected) <= allowed:
                raise Failure(f"{what}: expected loss {expected:.9g} in step {step + 1} within "
                              f"{allowed:.1e}, found {losses[step]:.9g}")

    def check_dump(self, what, folder, f64):
        share, noises = (DOUBLE, DOUBLE_NOISES) if f64 else (SINGLE, NOISES)
        if self.report["losses"]:
            self.check_losses(what, np.load(os.path.join(folder, "loss.npy")).ravel(), share,
                              noises)

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
