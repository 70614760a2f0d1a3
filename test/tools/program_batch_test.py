"""Programs that are built together are what they are alone, and fail alone."""

import os
import subprocess
import sys
import tempfile
import unittest

from program_batch import Toolchain, build_programs
from programs import Failure

HEADERS, *LINK = sys.argv[1:]
PROGRAM = """#include "ffrt/program.h"
{functors}
using namespace ffrt;
namespace {{
int number(int argc) {{ return {value}; }}
}} // namespace
int main(int argc, char **) {{ return number(argc); }}
"""
FUNCTORS = """#ifndef FUNCTORS_H
#define FUNCTORS_H
namespace functors {
struct Y { int value(); };
}
#endif
"""


class Batch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.sources = {}

    def tearDown(self):
        self.folder.cleanup()

    def add(self, name, value, functor=None):
        """A program that ends with `value`, which may be that of a functor."""
        folder = os.path.join(self.folder.name, name)
        os.makedirs(folder)
        files = {"train.cpp": PROGRAM.format(
            value=value, functors='#include "functors.h"' if functor else "")}
        if functor:
            files["functors.h"] = FUNCTORS
            files["functors.cpp"] = ('#include "functors.h"\n'
                                     f"int functors::Y::value() {{ return {functor}; }}\n")
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        self.sources[name] = folder

    def build(self):
        return build_programs(self.sources, os.path.join(self.folder.name, "run"),
                              Toolchain([HEADERS], ["-O1"], LINK))

    def expect(self, built, name, status):
        command = [built[name], name]
        self.assertEqual(subprocess.run(command, check=False).returncode, status, name)

    def test_each_is_itself(self):
        self.add("first", "10 * argc")
        self.add("second", "functors::Y{}.value()", functor=4)
        self.add("third", "functors::Y{}.value()", functor=5)
        self.add("fourth", "(std::abort(), 0)")
        built = self.build()
        self.assertEqual(len(set(built.values())), 1)
        for name, status in ("first", 10), ("second", 4), ("third", 5), ("fourth", -6):
            self.expect(built, name, status)

    def test_one_does_not_compile(self):
        self.add("good", "7")
        self.add("bad", "7 + missing")
        self.add("fine", "functors::Y{}.value()", functor=8)
        self.add("worse", "functors::Y{}.value()", functor="gone")
        built = self.build()
        self.expect(built, "good", 7)
        self.expect(built, "fine", 8)
        for name, said in ("bad", "missing"), ("worse", "gone"):
            self.assertIsInstance(built[name], Failure)
            self.assertIn(said, str(built[name]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
