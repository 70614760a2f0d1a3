"""Compiles a model, runs it with --trace and compares its trace with the predicted one.

  trace_ids.py --ffc FFC --model FILE --devices TOPOLOGY --ranks N --work FOLDER -- FLAGS

The ranks of the program must have started the tasks of the prediction, by name and
in its order, in every step that was traced; and ffc compare must find all of them in
both.
"""

import argparse
import json
import os
import sys

from programs import Failure, compile_program, expect_success, fresh_folder, run_program

TASKS = ("kernel", "copy", "exchange", "collective")
STEPS = 5


def tasks_of(path):
    """By device and step, the names of tasks in the order of the file. What a rank
    does itself and what it communicates are two queues."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    tasks = {}
    for event in events:
        if event["ph"] == "X" and event["cat"] in TASKS:
            arguments = event["args"]
            key = event["pid"], arguments.get("step", 0)
            tasks.setdefault(key, []).append(f"{event['cat']} {arguments['task']}")
    return tasks


def check(predicted, measured, ranks):
    """Fails unless every rank has done in every step what was predicted."""
    steps = {step for _, step in measured}
    if len(steps) != STEPS - 1:
        raise Failure(f"expected all {STEPS} steps but the first, found {sorted(steps)}")
    for rank in range(ranks):
        expected = predicted.get((rank, 0), [])
        for step in sorted(steps):
            found = measured.get((rank, step), [])
            if found == expected:
                continue
            at = next((i for i, pair in enumerate(zip(expected, found))
                       if pair[0] != pair[1]), min(len(expected), len(found)))
            raise Failure(f"rank {rank}, step {step}, task {at}: expected "
                          f"{expected[at:at + 3]}, found {found[at:at + 3]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--devices", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("compile_arguments", nargs="*")
    arguments = parser.parse_args()
    folder = fresh_folder(arguments.work)
    program, predicted, measured = (
        os.path.join(folder, name) for name in ("train", "predicted.json", "measured.json"))
    try:
        compile_program(arguments.ffc, arguments.model, arguments.devices, program,
                        [*arguments.compile_arguments, "--trace", predicted])
        run_program(program, arguments.ranks,
                    ["--steps", str(STEPS), "--trace", measured])
        check(tasks_of(predicted), tasks_of(measured), arguments.ranks)
        text = expect_success([arguments.ffc, "compare", predicted, measured], 60)
        if "only" in text:
            raise Failure(f"ffc compare found tasks in one trace only\n{text}")
    except Failure as failure:
        sys.exit(f"error: {failure}")
    print(text, end="")


if __name__ == "__main__":
    main()
