"""FlexNet's published task graphs and what its packet simulator made of them: are
files read as they are, written as they were read, and simulated as they should be?

    network_data.py --runs PROGRAM --schema FBS --data FOLDER [--only REGEX] [--all] TEST

inventory  all graphs agree with inventory.json
rewrite    they are written as they were read, and flatc decodes what is written
fair       max-min fair rates: 1 % of the reference of oracle.json, rows of class exact
flows      windows of flows: 3 % of the packet simulator, rows of class exact

fair and flows leave out what takes long, unless --all is given.
"""

import argparse
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile

TYPES = {"0": "FORWARD", "1": "BACKWARD", "3": "UPDATE", "4": "BARRIER", "5": "NOMINAL_COMM",
         "6": "ALLREDUCE"}
# How many servers a fat tree of switches with that many ports has.
PORTS = {16: 4, 54: 6, 128: 8, 250: 10, 432: 12}


def graph_files(data, folders):
    return sorted(os.path.join(folder, name) for folder in folders
                  for name in os.listdir(os.path.join(data, folder)))


def decompress(data, files, into):
    """The plain file of each."""
    plain = {}
    for file in sorted(set(files)):
        plain[file] = os.path.join(into, os.path.basename(file)[:-len(".xz")])
        with lzma.open(os.path.join(data, file)) as stream, open(plain[file], "wb") as out:
            out.write(stream.read())
    return plain


def run(program, lines):
    result = subprocess.run([program], input="".join(line + "\n" for line in lines),
                            capture_output=True, text=True, check=True)
    answers = result.stdout.splitlines()
    assert len(answers) == len(lines), f"{len(lines)} lines, {len(answers)} answers"
    for line, answer in zip(lines, answers):
        if answer.startswith("error: "):
            sys.exit(f"{line}: {answer}")
    return answers


def inventory(args, folder):
    with open(os.path.join(args.data, "inventory.json"), encoding="utf-8") as stream:
        wanted = {row["file"]: row for row in json.load(stream)}
    files = graph_files(args.data, ["graphs"])
    plain = decompress(args.data, files, folder)
    failures = []
    for file, answer in zip(files, run(args.runs, [f"inventory {plain[f]}" for f in files])):
        row, found = wanted[os.path.basename(plain[file])], json.loads(answer)
        found["types"] = {TYPES[number]: count for number, count in found["types"].items()}
        # Every connection is one link each way, every pair that differs has a path.
        expected = {key: row[key] for key in
                    ("ng", "nn", "nsw", "ig", "dr", "nb", "ops", "tasks", "types", "arsizes",
                     "arbytes", "mpbytes", "rings", "ncompdev")}
        expected.update(links=2 * row["conn"], paths=row["routes"] - row["nn"],
                        pairs=row["devs"].get("NW_NOMINAL", 0))
        failures += [f"{file}: {key}: expected {value}, found {found[key]}"
                     for key, value in expected.items() if found[key] != value]
        failures += [f"{file}: {key}: expected {row[key]}, found {found[key]}"
                     for key in ("artime", "maxcomp") if abs(found[key] - row[key]) > 0.002]
    return failures, f"{len(files)} files"


def rewrite(args, folder):
    files = graph_files(args.data, ["graphs", "micro", "derived"])
    files = [file for file in files if args.all or "_128" not in file]
    plain = decompress(args.data, files, folder)
    again = {file: plain[file] + ".again" for file in files}
    run(args.runs, [f"rewrite {plain[file]} {again[file]}" for file in files])
    failures = []
    for file in files:
        sizes = []
        for path in (plain[file], again[file]):
            subprocess.run(["flatc", "--json", "--strict-json", "--raw-binary", "-o", folder,
                            args.schema, "--", path], check=True)
            stem = os.path.basename(path)
            stem = stem[:stem.rindex(".")]
            with open(os.path.join(folder, stem + ".json"), encoding="utf-8") as stream:
                tables = json.load(stream)
            sizes.append({key: len(value) if isinstance(value, list) else value
                          for key, value in tables.items()
                          # Absent and empty lists say the same. Ours has a device for
                          # every node, the original for those that compute.
                          if key != "devices" and value != []})
        if sizes[0] != sizes[1]:
            failures.append(f"{file}: expected tables {sizes[0]}, found {sizes[1]}")
    return failures, f"{len(files)} files"


def network_of(row):
    if row["network"].startswith("fat-tree"):
        return str(PORTS[row["nodes"]])
    return "file" if row["network"].startswith("switchless") else "switch"


def oracle(args, folder, model, key, percent, least, use):
    """At least `least` of 100 rows are within `percent` of what they say."""
    with open(os.path.join(args.data, "oracle.json"), encoding="utf-8") as stream:
        rows = [row for row in json.load(stream)["rows"] if use(row)]
    every = len(rows)
    if not args.all:
        rows = [row for row in rows if "_32" not in row["graph"] and "_128" not in row["graph"]]
    if args.only:
        rows = [row for row in rows if re.search(args.only, row["graph"])]
    plain = decompress(args.data, [row["file"] for row in rows], folder)
    lines = []
    for row in rows:
        kind = row["ar"] if row["ar"] in ("ps", "dps") else "ring"
        lines.append(f"simulate {plain[row['file']]} {network_of(row)} "
                     f"{row['speed_mbps'] * 125000} {row['rtt_ns'] * 1000} {kind} {model}")
    far, wall = [], 0
    for row, answer in zip(rows, run(args.runs, lines)):
        picoseconds, _, seconds = answer.split()
        wall += float(seconds)
        off = 100 * (int(picoseconds) / 1e9 / row[key] - 1)
        if abs(off) > percent:
            far.append(f"{row['graph']} {row['network'].split(',')[0]} {row['speed_mbps']} Mbit/s "
                       f"{row['ar']}: {int(picoseconds) / 1e9:.3f} ms for {row[key]:.3f}, "
                       f"{off:+.1f} %")
    print("\n".join(far))
    good = 100 * (len(rows) - len(far)) / len(rows)
    summary = (f"{len(rows)} of {every} rows in {wall:.1f} s, {good:.1f} % of them within "
               f"{percent} %")
    failures = [] if good >= least else [f"expected {least} % of the rows, found {good:.1f} %"]
    return failures, summary


def fair(args, folder):
    return oracle(args, folder, "fair", "flow_level_ms", 1, 98,
                  lambda row: "flow_level_ms" in row)


def flows(args, folder):
    return oracle(args, folder, "flows", "final_finish_ms", 3, 95,
                  lambda row: row["class"] == "exact")


def main():
    tests = {"inventory": inventory, "rewrite": rewrite, "fair": fair, "flows": flows}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", required=True)
    parser.add_argument("--schema", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--only")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("test", choices=tests)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures, summary = tests[args.test](args, folder)
    print(summary)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
