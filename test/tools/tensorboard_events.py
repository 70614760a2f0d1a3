"""Runs a program with --log and --tensorboard and compares what TensorBoard's own library reads
with the log. Needs the Python package tensorboard.

  tensorboard_events.py PROGRAM
"""

import json
import os
import sys
import tempfile

from programs import Failure, run_program

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("not run: the Python package tensorboard is not here")
    sys.exit(77)

NAMES = {"loss": "loss", "learning_rate": "learning_rate", "epoch": "epoch",
         "seconds_per_step": "seconds",
         **{name: name for name in ("samples_per_second", "flops_per_second",
                                    "waiting_for_data")}}


def main():
    with tempfile.TemporaryDirectory() as folder:
        log, board = (os.path.join(folder, name) for name in ("log.jsonl", "board"))
        run_program(sys.argv[1], 1, ["--steps", "20", "--print-freq", "5", "--lr-schedule", "cosine",
                                     "--log", log, "--tensorboard", board])
        with open(log, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        steps = [line for line in lines if "step" in line]
        events = EventAccumulator(board)
        events.Reload()
        if sorted(events.Tags()["scalars"]) != sorted(NAMES):
            raise Failure(f"expected {sorted(NAMES)}, found {sorted(events.Tags()['scalars'])}")
        for name, key in NAMES.items():
            found = [(event.step, event.value) for event in events.Scalars(name)]
            expected = [(step["step"], step[key]) for step in steps]
            if len(found) != len(expected) or any(
                    a[0] != b[0] or abs(a[1] - b[1]) > 1e-6 * abs(b[1])
                    for a, b in zip(found, expected)):
                raise Failure(f"{name}: expected {expected}, found {found}")
        print(f"{len(steps)} steps with {len(NAMES)} numbers each")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"error: {failure}")
