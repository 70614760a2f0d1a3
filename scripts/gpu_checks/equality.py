"""What programs compute: as on one rank of a CPU, the same again, captured, on several ranks."""

import os
import re
import shutil

from .runner import Check, Failed, NotRun

STEPS = 10
# What NCCL is told where ranks share a GPU.
TWO_MACHINES = {"NCCL_SOCKET_IFNAME": "lo", "NCCL_DEBUG": "WARN"}


class Equality:
    def __init__(self, facts, pack, work, programs):
        self.facts, self.programs = facts, programs
        self.reference = os.path.join(pack, "reference")
        self.work = work

    def on_cpu(self, precisions):
        """Those of every model in true f32 first."""
        compared = self.facts["compared"]
        for precision in self.facts["precisions"]:
            for model in compared:
                if precision in precisions and precision in compared[model]:
                    yield Check(f"as-on-cpu/{precision}/{model}",
                                lambda m=model, p=precision: self.as_on_cpu(m, p), 60)

    def on_gpu(self):
        for model in self.facts["compared"]:
            yield Check(f"same-again/{model}", lambda m=model: self.same_again(m), 60)
            yield Check(f"captured/{model}", lambda m=model: self.captured(m), 60)
        yield Check("nccl/program", self.over_nccl, 60)
        # Kernels of one rank that wait for those of another take turns on the GPU.
        yield Check("nccl/two-ranks", self.two_over_nccl, 120, alone=True)
        for name in self.facts["ranks"]:
            for transport in ["shm"] + ["mpi"] * self.programs.mpi:
                yield Check(f"ranks/{transport}/{name}",
                            lambda n=name, t=transport: self.on_ranks(n, t), 120)
        # Last: two graphs, of which each waits for the other.
        yield Check("nccl/two-captured", self.two_captured, 120, alone=True)

    def flags(self):
        return ["--lr", "0.01", "--seed", str(self.facts["seed"])]

    def compare(self, program, model, precision, *flags, variables=None):
        try:
            from compare_runs import Bounds, compare_rounding, compare_runs  # of the pack
            from programs import Failure
        except ImportError as problem:
            raise NotRun(f"values are compared by numpy: {problem}") from None
        folder = os.path.join(self.work, program + (variables or {}).get("FFRT_COMM", ""))
        for steps in self.facts["steps"]:
            self.programs.run(program, "--steps", str(steps), *self.flags(), *flags, "--dump",
                              os.path.join(folder, f"step{steps}"), variables=variables)
        # Where a CPU does not compute in it, with f32.
        reference = os.path.join(self.reference, f"{model}-{precision}")
        if not os.path.isdir(reference):
            reference = os.path.join(self.reference, f"{model}-f32")
        bounds = Bounds(*self.facts["precisions"][precision])
        exact = os.path.join(self.reference, f"{model}-f32")
        try:
            return compare_runs(reference, folder, bounds)
        except Failure as problem:
            if precision == "f32" or reference == exact:
                raise Failed(str(problem)) from None
        try:
            return compare_rounding(exact, reference, folder, bounds)
        except Failure as problem:
            raise Failed(str(problem)) from None

    def as_on_cpu(self, model, precision):
        return self.compare(f"compared-{model}-{precision}", model, precision)

    def on_ranks(self, name, transport, *flags, **variables):
        about = self.facts["ranks"][name]
        return self.compare(f"ranks-{name}", about["model"], "f32",
                            "--local-ranks", str(about["ranks"]), *flags,
                            variables={"FFRT_COMM": transport, "OMP_NUM_THREADS": "1", **variables})

    def of_two_ranks(self):
        for name, about in self.facts["ranks"].items():
            if about["ranks"] == 2:
                return name
        raise NotRun("no program of two ranks")

    def two_over_nccl(self):
        """Ranks that share a GPU, which NCCL takes for those of two machines."""
        return self.on_ranks(self.of_two_ranks(), "nccl", "--deadline", "40", **TWO_MACHINES)

    def two_captured(self):
        """The same ranks in graphs."""
        name = self.of_two_ranks()
        program = f"ranks-{name}"
        flags = ["--local-ranks", "2", "--deadline", "40"]
        plans = os.path.join(self.work, f"{name}-captured.plans")
        variables = {"FFRT_COMM": "nccl", "FFRT_PLAN_CACHE": plans, "OMP_NUM_THREADS": "1",
                     **TWO_MACHINES}
        return self.compare_captured(program, flags, variables)

    def plans(self, model, name):
        """Runs with the plans of one cache have the same bits. It begins with what other checks
        have found."""
        path = os.path.join(self.work, f"{model}-{name}.plans")
        known = self.programs.path(f"compared-{model}-f32") + ".plans"
        if os.path.exists(known) and not os.path.exists(path):
            shutil.copy(known, path)
        return {"FFRT_PLAN_CACHE": path}

    def losses(self, program, flags, variables):
        text = self.programs.run(program, "--steps", str(STEPS), "--print-freq", "1",
                                 *self.flags(), *flags, variables=variables)
        found = re.findall(r"loss (\S+)", text)
        if len(found) != STEPS:
            raise Failed(f"expected {STEPS} losses, found {len(found)}")
        return found

    def same_again(self, model):
        runs = []
        for number in "first", "second":
            folder = os.path.join(self.work, f"{model}-{number}")
            self.programs.run(f"compared-{model}-f32", "--steps", str(STEPS), *self.flags(),
                              "--dump", folder, variables=self.plans(model, "again"))
            runs.append(dict(files(folder)))
        if runs[0].keys() != runs[1].keys():
            raise Failed("expected the same files again, found others")
        other = [name for name in runs[0] if runs[0][name] != runs[1][name]]
        if other:
            raise Failed(f"expected the same bits again, found others in {len(other)} of "
                         f"{len(runs[0])} files: {', '.join(other[:3])}")
        return f"{len(runs[0])} files of the same bits"

    def over_nccl(self):
        """A program of one rank that has communicators."""
        model = next(iter(self.facts["compared"]))
        program, plans = f"compared-{model}-f32", self.plans(model, "nccl")
        alone = self.losses(program, [], plans)
        found = self.losses(program, [], {**plans, "FFRT_COMM": "nccl"})
        if alone != found:
            raise Failed(f"expected losses {alone}, found {found}")
        return f"{STEPS} losses of the same digits, {model}"

    def captured(self, model):
        return self.compare_captured(f"compared-{model}-f32", [], self.plans(model, "captured"))

    def compare_captured(self, program, flags, variables):
        """Steps that write dumps are started kernel by kernel."""
        captured = self.losses(program, flags, variables)
        dump = os.path.join(self.work, f"{program}-started")
        started = self.losses(program, [*flags, "--dump", dump], variables)
        if captured != started:
            raise Failed(f"expected losses {started} of captured steps, found {captured}")
        return f"{STEPS} losses of the same digits"


def files(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                yield os.path.relpath(os.path.join(path, name), folder), file.read()
