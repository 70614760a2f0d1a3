"""Checks that ffc is linked without lib/Reference: linked.py NM FFC FFC_EVALUATE.

ffc-evaluate, which needs it, shows that it would be found."""

import subprocess
import sys

# Some of its functions, without parameters.
REFERENCE = ["ffc::ff::evaluate", "ffc::ff::lookupReference",
             "ffc::rank::RankEvaluator::RankEvaluator"]


def linked(nm, program):
    names = subprocess.run([nm, "--demangle", program], check=True, capture_output=True,
                           text=True).stdout
    return [name for name in REFERENCE if f" {name}(" in names]


def main():
    nm, ffc, ffc_evaluate = sys.argv[1:]
    if linked(nm, ffc_evaluate) != REFERENCE:
        sys.exit(f"expected all of {', '.join(REFERENCE)} in ffc-evaluate, found "
                 f"{', '.join(linked(nm, ffc_evaluate)) or 'none'}")
    if found := linked(nm, ffc):
        sys.exit(f"expected ffc without lib/Reference, found {', '.join(found)}")


if __name__ == "__main__":
    main()
