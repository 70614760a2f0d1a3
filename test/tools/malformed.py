"""Malformed inputs give one clear error each.

A file of cases holds blocks of this form; the files before the first block are
there for all cases of the file:

    === what is wrong
    run: model.onnxtxt --devices two.yaml -o train
    expect: regular expression for the message after "ffc: error: "
    --- model.onnxtxt
    text of the file, up to the next line with === or ---
    --- model.onnx hex
    bytes of the file, as hexadecimal digits

Each case runs in a folder of its own. ffc must end with status 1 or 2 within ten
seconds, give exactly one error, and leave no file behind. Lines of its report
("ffc: ...") may precede the error.
"""

import argparse
import os
import re
import shutil
import sys

from programs import fresh_folder, run

SECONDS = 10
PREFIX = "ffc: error: "


class Case:
    def __init__(self, name, files):
        self.name, self.files = name, dict(files)
        self.command = self.expected = None


def read_cases(path):
    """The cases of a file."""
    cases, shared, lines = [], {}, None
    with open(path) as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip("\n")
            files = cases[-1].files if cases else shared
            if text.startswith("=== "):
                cases.append(Case(text[4:], shared))
                lines = None
            elif text.startswith("--- "):
                name, _, kind = text[4:].partition(" ")
                lines = []
                files[name] = (kind, lines)
            elif lines is not None:
                lines.append(line)
            elif text.startswith("run:"):
                cases[-1].command = text[4:].split()
            elif text.startswith("expect: "):
                cases[-1].expected = text[8:]
            elif text and not text.startswith("#"):
                sys.exit(f"error: {path}:{number}: expected run:, expect:, === or ---")
    for case in cases:
        if case.command is None or case.expected is None:
            sys.exit(f"error: {path}: case '{case.name}' lacks run: or expect:")
    return cases


def check(ffc, case, work):
    """Why the case fails, or None."""
    for name, (kind, lines) in case.files.items():
        # The blank lines between cases belong to no file.
        data = "".join(lines).rstrip("\n")
        data = bytes.fromhex(data) if kind == "hex" else (data + "\n").encode()
        with open(os.path.join(work, name), "wb") as file:
            file.write(b"" if kind == "empty" else data)
    status, out, err = run([ffc, *case.command], SECONDS, cwd=work)
    if status is None:
        return f"no end within {SECONDS} s"
    found = f"status {status}\nstdout: {out}stderr: {err}"
    if status not in (1, 2):
        return f"expected status 1 or 2, found {found}"
    lines = [line for line in err.splitlines()
             if line.startswith(PREFIX) or not line.startswith("ffc: ")]
    if out or len(lines) != 1 or not lines[0].startswith(PREFIX):
        return f"expected one error on stderr, found {found}"
    message = lines[0][len(PREFIX):]
    if not re.fullmatch(case.expected, message):
        return f"expected {case.expected}\n   found {message}"
    left = set(os.listdir(work)) - set(case.files)
    if left:
        return f"expected no new files, found {sorted(left)}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("files", nargs="+", help="files of cases")
    arguments = parser.parse_args()

    count, failed = 0, []
    for path in arguments.files:
        for case in read_cases(path):
            if not re.search(arguments.only, case.name):
                continue
            count += 1
            work = fresh_folder(os.path.join(arguments.work, str(count)))
            problem = check(arguments.ffc, case, work)
            if problem:
                failed.append(case.name)
                print(f"{os.path.basename(path)}: {case.name}: {problem}\n")
    shutil.rmtree(arguments.work, ignore_errors=True)
    print(f"{count} malformed inputs, {len(failed)} failed")
    sys.exit(bool(failed) or not count)


if __name__ == "__main__":
    main()
