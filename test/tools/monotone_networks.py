"""Are more interfaces, and faster ones, never worse? Networks found for FlexNet's task graphs.

Prints a table of milliseconds for each graph, a row for every number of interfaces and a column
for every bandwidth, and fails where a step takes longer with more of either.
"""

import argparse
import lzma
import os
import re
import sys
import tempfile

from programs import Failure, expect_success


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffc", required=True)
    parser.add_argument("graphs", nargs="+", help="task graphs, .fbuf or .fbuf.xz")
    parser.add_argument("--degrees", default="1,2,3,4,5,6,7,8")
    parser.add_argument("--bandwidths", default="10,25,40,100,200,400", help="in Gbit/s")
    parser.add_argument("--model", default="packets", help="of ffc topology search")
    return parser.parse_args()


def unpacked(path, folder):
    if not path.endswith(".xz"):
        return path
    plain = os.path.join(folder, os.path.basename(path)[:-len(".xz")])
    with lzma.open(path) as packed, open(plain, "wb") as file:
        file.write(packed.read())
    return plain


def found(arguments, graph, degree, bandwidth):
    """Picoseconds of the step on the network that is found."""
    said = expect_success([arguments.ffc, "topology", "search", graph, "--degree", str(degree),
                           "--interface-bandwidth", f"{bandwidth} Gbit/s",
                           "--model", arguments.model], 600)
    words = re.search(r"^found +([0-9.]+) ms", said, re.MULTILINE)
    if not words:
        raise Failure(f"expected 'found TIME ms', found\n{said}")
    return round(float(words.group(1)) * 1e9)


def worse(times, degrees, bandwidths):
    """What takes longer than with fewer interfaces, or slower ones."""
    for d, degree in enumerate(degrees):
        for b, bandwidth in enumerate(bandwidths):
            for other in ((d - 1, b), (d, b - 1)):
                if min(other) >= 0 and times[d][b] > times[other[0]][other[1]]:
                    before = times[other[0]][other[1]]
                    yield (f"{degree} of {bandwidth} Gbit/s: {times[d][b] / 1e9:.3f} ms, but "
                           f"{before / 1e9:.3f} with {degrees[other[0]]} of "
                           f"{bandwidths[other[1]]} ({100 * (times[d][b] / before - 1):.2f} %)")


def main():
    arguments = parse()
    degrees = [int(degree) for degree in arguments.degrees.split(",")]
    bandwidths = [int(bandwidth) for bandwidth in arguments.bandwidths.split(",")]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.graphs:
            graph = unpacked(path, folder)
            times = [[found(arguments, graph, degree, bandwidth)
                      for bandwidth in bandwidths] for degree in degrees]
            print(os.path.basename(path))
            for degree, row in zip(degrees, times):
                print(f"{degree:3}", *(f"{time / 1e9:10.3f}" for time in row))
            for text in worse(times, degrees, bandwidths):
                print("worse:", text)
                failures += 1
            sys.stdout.flush()
    if failures:
        sys.exit(f"error: expected no step to take longer, found {failures}")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"error: {failure}")
