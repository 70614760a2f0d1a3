"""Brings about every situation of docs/when-things-go-wrong.md, and compares what is said with
what the document says.

  bad_situations.py --ffc FFC --topologies DIR --document FILE --work DIR [--only TEXT] [--show]

A row of the document is | situation | `message` | what to do |, where "..." in a message stands
for anything. Document and cases are the same set. In every situation the command must fail, with
one message, and leave nothing in temporary folders and shared memory, and nothing unfinished
beside what it writes.
"""

import argparse
import os
import re
import shutil
import sys
import time

from programs import MPI_MEMORY
from situations import CASES, Place


def rows(path):
    """Messages by situation."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = re.match(r"\| (.+?) \| `(.+)` \| .*\|$", line)
            if cells:
                assert cells[1] not in found, f"'{cells[1]}' is there twice"
                found[cells[1]] = cells[2]
    return found


def pattern_of(message):
    return re.compile(".*".join(re.escape(part) for part in message.split("...")))


def check(place, situation, message, show):
    """What is wrong; empty: nothing."""
    function, status, unfinished = CASES[situation]
    place.begin()
    began = time.monotonic()
    said = function(place)
    if show:
        print(f"--- {situation}: status {place.status}, {time.monotonic() - began:.1f} s\n{said}")
        return ""
    if place.status is None or place.status == 0 or (status and place.status != status):
        return f"expected status {status or 'over 0'}, found {place.status}\n{said}"
    if not pattern_of(message).search(said):
        return f"expected\n  {message}\nfound\n{said}"
    errors = [line for line in said.splitlines() if "error: " in line]
    if status and len(errors) != 1:
        return f"expected one error, found {len(errors)}\n{said}"
    left = place.leftovers(unfinished)
    return f"expected nothing to be left, found {', '.join(left)}" if left else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("ffc", "topologies", "document", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--only", default="", help="situations with this text")
    parser.add_argument("--show", action="store_true", help="print what is said")
    arguments = parser.parse_args()
    arguments.ffc = os.path.abspath(arguments.ffc)
    arguments.topologies = os.path.abspath(arguments.topologies)
    messages = rows(arguments.document)
    if not arguments.show and set(messages) != set(CASES):
        sys.exit(f"error: expected a case for every row, found rows {set(messages) - set(CASES)} "
                 f"and cases {set(CASES) - set(messages)} alone")
    before = set(os.listdir("/dev/shm"))
    place = Place(arguments)
    failed = 0
    chosen = [situation for situation in CASES if arguments.only in situation]
    for situation in chosen:
        wrong = check(place, situation, messages.get(situation, ""), arguments.show)
        if wrong:
            failed += 1
            print(f"{situation}: {wrong}")
    left = [name for name in set(os.listdir("/dev/shm")) - before if not MPI_MEMORY.match(name)]
    if left:
        print(f"/dev/shm: expected nothing to be left, found {', '.join(left)}")
    shutil.rmtree(place.root, ignore_errors=True)
    print(f"{len(chosen)} situations, {failed} of them not as expected")
    sys.exit(1 if failed or left else 0)


if __name__ == "__main__":
    main()
