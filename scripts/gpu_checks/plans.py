"""What gpu-check runs where a GPU is at hand for minutes only: which checks, in which order."""

from typing import NamedTuple


class Plan(NamedTuple):
    """Checks whose names begin so, in this order; `budget` in seconds. Not `tunes`: programs that
    are compared take the first algorithm of libraries, so that nothing is spent on measuring."""
    about: str
    budget: float
    checks: tuple
    tunes: bool = True
    modes: str = ""


PLANS = {
    "first": Plan(
        "is what programs compute right, and how long does a step take? All alone, no PyTorch",
        240,
        ("loader", "device", "as-on-cpu/f32/mlp", "as-on-cpu/f32", "as-on-cpu/bf16", "nccl/one-rank",
         "nccl/program", "captured", "alone/mlp/bf16", "alone/dlrm/bf16", "alone/gpt2/bf16",
         "alone/resnet50/bf16", "alone/lstm_lm/bf16", "memcheck/mlp", "memcheck/gpt",
         "memcheck/resnet", "memcheck/recurrent", "ranks", "same-again", "alone/alexnet/bf16",
         "alone/bert_base/bf16", "profile/gpt2", "profile/resnet50", "waits", "memory",
         "nccl/two-ranks", "nccl/two-captured"),
        tunes=False),
    "second": Plan(
        "times of steps against PyTorch, one precision at a time, bf16 first", 350,
        ("loader", "speed/gpt2/bf16", "speed/resnet50/bf16", "speed/mlp/bf16", "speed/dlrm/bf16",
         "speed/lstm_lm/bf16", "speed/bert_base/bf16", "speed/alexnet/bf16", "ceilings", "speed"),
        modes="eager,compile"),
}


def begins(name, prefix):
    return name == prefix or name.startswith(prefix + "/")


def ordered(checks, prefixes):
    """Those of `checks` that the prefixes name, each once, in the order of the first prefix that
    names it."""
    rank = {}
    for check in checks:
        for at, prefix in enumerate(prefixes):
            if begins(check.name, prefix):
                rank[check.name] = at
                break
    return sorted((check for check in checks if check.name in rank),
                  key=lambda check: rank[check.name])
