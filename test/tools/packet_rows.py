"""Compares steps at the level of packets with runs of FlexNetPacket.

The runs are those of data/topoopt/oracle.json; its README says what the original
does. Of class "exact" no random path matters: 95 % of these have to end within 2 %. Of
class "ecmp" every flow draws its path: where the file has the original's times for
other seeds, ours has to be among them, give or take 3 %. With drops a run depends on
every tie, and has to be within 20 %. Others are shown and not judged. --every N takes
one run in N beside those of small graphs.
"""

import argparse
import collections
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from network_data import decompress, network_of

EXACT, SPREAD, DROPS = 0.02, 0.03, 0.2
SHARE_OF_EXACT = 0.95
# What the seeds of the file were run on.
SPREAD_ON = {"exe": "htsim_tcp_fattree", "nodes": 16, "speed_mbps": 100000, "rtt_ns": 1000,
             "queue_pkts": 50000, "ssthresh_pkts": 10000}
# Runs with drops that have to be close.
DROPS_ON = {"graph": "m_incast15x10MB", "queue_pkts": (20, 60, 200)}


def simulate(ffc, row, path, seed, slower):
    """What `ffc simulate` says of the row's graph, and seconds of the processor."""
    network = network_of(row)
    kind = row["ar"] if row["ar"] in ("ps", "dps") else "ring"
    command = [ffc, "simulate", path, "--model=packets", "--json",
               f"--bandwidth={row['speed_mbps'] / slower} Mbit/s",
               f"--latency={row['rtt_ns']} ns", f"--all-reduce={kind}",
               f"--slow-start={row['ssthresh_pkts']}", f"--seed={seed}"]
    if network.isdigit():  # Queues have no end in the original's other programs.
        command += [f"--network=fat-tree:{network}", "--marking=switches",
                    f"--queue={row['queue_pkts']}"]
    else:
        command.append(f"--network={network}")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)}: exit code {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return json.loads(done.stdout), seconds


def has(row, expected):
    return all(row[key] in value if isinstance(value, tuple) else row[key] == value
               for key, value in expected.items())


def judge(row, ours, spreads):
    """The name of a rule and whether the run keeps it."""
    error = abs(ours["finish_ps"] / row["final_finish_ps"] - 1)
    if row["class"] == "exact":
        return "exact", error <= EXACT
    spread = spreads.get(row["graph"])
    if spread and has(row, SPREAD_ON):
        milliseconds = ours["finish_ps"] / 1e9
        return "seeds", (min(spread) * (1 - SPREAD) <= milliseconds
                         <= max(spread) * (1 + SPREAD))
    if has(row, DROPS_ON):
        return "drops", error <= DROPS
    return "not judged", error <= EXACT


def describe(row):
    return (f"{row['graph']:28} {row['network'][:11]:11} {row['nodes']:3} "
            f"{row['speed_mbps'] / 1000:6g} Gbit/s {row['rtt_ns']:5} ns "
            f"q {row['queue_pkts']:5} ss {row['ssthresh_pkts']:5} {row['ar'][:7]:7}")


def report(results, worst):
    """Prints what is to be known of every rule; returns what is wrong."""
    failures = []
    for rule, runs in sorted(results.items()):
        kept = sum(run[1] for run in runs)
        print(f"{rule}: {kept} of {len(runs)} runs, within 2 % "
              f"{sum(abs(run[0]) <= 0.02 for run in runs)}, within 0.1 % "
              f"{sum(abs(run[0]) <= 0.001 for run in runs)}, to the picosecond "
              f"{sum(run[0] == 0 for run in runs)}; other numbers of flows "
              f"{sum(run[2]['flows'] != run[3]['flows'] for run in runs)}")
        least = {"exact": SHARE_OF_EXACT, "not judged": 0}.get(rule, 1)
        if kept < least * len(runs):
            failures.append(f"error: {rule}: expected {100 * least:.0f} % of {len(runs)} runs "
                            f"to agree, found {kept}")
        for error, _, row, ours in sorted(runs, key=lambda run: -abs(run[0]))[:worst]:
            print(f"  {100 * error:+7.2f} % {describe(row)} {row['final_finish_ms']:10.3f} ms, "
                  f"ours {ours['finish_ps'] / 1e9:10.3f} ms, lost "
                  f"{ours['packets']['lost']}, timeouts {ours['packets']['timeouts']}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc", help="the compiler")
    parser.add_argument("data", help="folder data/topoopt")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a graph's name")
    parser.add_argument("--slower", type=float, default=1,
                        help="a planted fault: links are slower by this factor")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worst", type=int, default=10,
                        help="how many rows to print of each rule")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.data, "oracle.json"), encoding="utf-8") as file:
        oracle = json.load(file)
    rows = [row for i, row in enumerate(oracle["rows"])
            if arguments.only in row["graph"]
            and (row["file"].startswith("micro/") or i % arguments.every == 0)]
    if not rows:
        sys.exit("error: expected a run, found none")
    results = collections.defaultdict(list)
    begin, processor, hops = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        plain = decompress(arguments.data, [row["file"] for row in rows], folder)
        for row in rows:
            ours, seconds = simulate(arguments.ffc, row, plain[row["file"]], arguments.seed,
                                     arguments.slower)
            rule, kept = judge(row, ours, oracle["seed_spread"])
            results[rule].append((ours["finish_ps"] / row["final_finish_ps"] - 1, kept,
                                  row, ours))
            processor += seconds
            hops += ours["packets"]["hops"]
    failures = report(results, arguments.worst)
    print(f"{hops / 1e6:.0f} million hops of packets in {time.monotonic() - begin:.1f} s, "
          f"{processor:.1f} s of the processor; the original took "
          f"{sum(row['wall_s'] for row in rows):.0f} s")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
