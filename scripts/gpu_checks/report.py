"""gpu-check.md: what was found, of every check."""

from .runner import FAILED, NOT_RUN, PASSED

KINDS = {
    "build": "programs and probes are built",
    "loader": "the libraries that programs were linked with are found",
    "as-on-cpu": "losses, gradients and parameters as on one rank of a CPU",
    "same-again": "a second run with the same plan cache gives the same bits",
    "captured": "captured steps give the losses of steps that are started kernel by kernel",
    "ranks": "several ranks that share the GPU give the losses, gradients and parameters of one",
    "memory": "planned bytes are allocated, and nothing in steps",
    "waits": "the host does not wait for the GPU in steps",
    "device": "the record by which cuDNN plans for this GPU",
    "nccl": "NCCL with one rank in a graph; with two ranks on one GPU",
    "alone": "times of steps of programs at full size, each alone",
    "speed": "times of steps beside PyTorch",
    "profile": "times of kernels in steps, and by the topology's figures",
    "ceilings": "what the GPU can do",
    "memcheck": "compute-sanitizer: accesses of memory",
    "racecheck": "compute-sanitizer: races in shared memory",
}


def cell(text, size=200):
    return " ".join(str(text).split()).replace("|", "/")[:size]


def table(head, rows, right=()):
    lines = ["| " + " | ".join(head) + " |",
             "| " + " | ".join("---:" if name in right else "---" for name in head) + " |"]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows] + [""]


def write(facts, machine, checks):
    lines = ["# Programs on a GPU", "",
             f"{facts['date']}, ffc at {facts['commit']}. {machine['gpu'] or 'No GPU'}; "
             f"{machine['nvcc'] or 'no nvcc'}; {machine['cores']} cores; PyTorch "
             f"{machine['pytorch'] or 'none'}; MPI {machine['mpi'] or 'none'}.", ""]
    lines += summary(checks) + speed(checks) + kernels(facts, checks) + by_model(checks)
    lines += rest(checks) + ceilings(checks)
    return "\n".join(lines).rstrip() + "\n"


def of_kind(checks, kind):
    return {name: result for name, result in checks.items() if name.split("/")[0] == kind}


def summary(checks):
    rows = []
    for kind, what in KINDS.items():
        found = [result["status"] for result in of_kind(checks, kind).values()]
        if found:
            rows.append([kind, what, *(found.count(status) or ""
                                       for status in (PASSED, FAILED, NOT_RUN))])
    numbers = [PASSED, FAILED, NOT_RUN]
    return table(["check", "what", *numbers], rows, numbers)


def speed(checks):
    """Ratios are PyTorch's time over ffc's; by model, in the order of precisions."""
    found = [row for result in of_kind(checks, "speed").values() for row in result.get("data", [])]
    if not found:
        return []
    modes = [name for name in found[0] if name not in ("model", "precision", "batch", "length",
                                                       "ffc")]
    rows = []
    for row in found:
        cells = [row["model"], row["precision"], row["batch"], row["length"] or "",
                 time_of(row["ffc"])]
        for mode in modes:
            cells.append(time_of(row[mode]))
            both = all("ms" in row[who] and "problem" not in row[who] for who in ("ffc", mode))
            cells.append(f"{row[mode]['ms'] / row['ffc']['ms']:.2f}" if both else "")
        rows.append(cells)
    head = ["model", "precision", "batch", "length", "ffc ms"]
    for mode in modes:
        head += [f"PyTorch {mode} ms", f"ratio to {mode}"]
    return (["## Times of steps", "",
             "Medians of rounds, with the smallest and the largest; a ratio is PyTorch's time over "
             "ffc's. Both train on one batch, which PyTorch has on the GPU. bf16 and fp16 of "
             "PyTorch are autocast's, whose normalisations give f32; ffc's give narrow values.",
             ""]
            + table(head, rows, head[2:]))


def time_of(found):
    parts = []
    if "ms" in found:
        parts.append(f"{found['ms']:.3f} [{found['least']:.3f}, {found['most']:.3f}]")
    if "problem" in found:
        parts.append(found["problem"][:80])
    return ", but ".join(parts)


def kernels(facts, checks):
    """Beside the step that the programs take; of the kernels those that take 1 % of all."""
    rows = [row for result in of_kind(checks, "profile").values()
            for row in result.get("data", {}).get("kernels", [])]
    if not rows:
        return []
    steps = {(row["model"], row["precision"]): row["ffc"]
             for result in of_kind(checks, "speed").values() for row in result.get("data", [])}
    sums, parts, all_of = [], [], {}
    for row in rows:
        if row["kernel"] == "all":
            all_of[row["model"], row["precision"]] = row["us"]
    for row in rows:
        key = row["model"], row["precision"]
        times = [f"{row[name]:.1f}" for name in ("us", "figures us")]
        ratio = f"{row['us'] / row['figures us']:.2f}" if row["figures us"] else ""
        if row["kernel"] == "all":
            step = steps.get(key, {}).get("ms")
            sums.append([*key, f"{step * 1e3:.1f}" if step else "", *times, ratio])
        elif row["us"] >= 0.01 * all_of[key]:
            parts.append([*key, row["kernel"], f"{row['calls']:g}", *times, ratio])
    figures = ["kernels us", "by figures us", "ratio"]
    return (["## Times of kernels", "",
             f"Kernels of one step, added up, beside the step; what the figures of "
             f"{facts['figures']} say of them; and the ratio of both.", ""]
            + table(["model", "precision", "step us", *figures], sums, ["step us", *figures])
            + table(["model", "precision", "kernel", "calls", *figures], parts,
                    ["calls", *figures]))


def by_model(checks):
    lines = []
    for kind in "as-on-cpu", "ranks":
        rows = [[name.partition("/")[2], result["status"], result["note"]]
                for name, result in of_kind(checks, kind).items()]
        if rows:
            lines += [f"## {KINDS[kind][0].upper()}{KINDS[kind][1:]}", ""]
            lines += table(["what", "found", "how"], rows)
    return lines


def rest(checks):
    rows = [[name, result["status"], result["note"]] for name, result in checks.items()
            if name.split("/")[0] not in ("as-on-cpu", "ranks", "speed")]
    return ["## All else", ""] + table(["check", "found", "how"], rows)


def ceilings(checks):
    lines = []
    for name, result in {**of_kind(checks, "ceilings"), **of_kind(checks, "nccl")}.items():
        groups = {}
        found = result.get("data") or []
        for row in found if isinstance(found, list) else [found]:
            groups.setdefault(tuple(row), []).append(row)
        for head, rows in groups.items():
            lines += [f"## {name}", ""] + table(head, [row.values() for row in rows])
    return lines
