"""The test of who includes whom finds what is planted."""

import os
import shutil
import tempfile
import unittest

import includes

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        for part in ("lib/Plan", "include/ffc/Plan"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(self.root, part))
        os.makedirs(os.path.join(self.root, "docs"))
        self.table = os.path.join(self.root, "docs/architecture.md")
        shutil.copy(os.path.join(ROOT, "docs/architecture.md"), self.table)

    def tearDown(self):
        self.folder.cleanup()

    def plant(self, path, target):
        """Adds a line, the second one."""
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lines = [""]
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([lines[0], f'#include "{target}"', *lines[1:]]))

    def wrong(self):
        return includes.libraries(self.root)[1] + includes.rooms(self.root)

    def test_nothing(self):
        self.assertEqual(self.wrong(), [])

    def test_library(self):
        self.plant("lib/Plan/Graph/Box.cpp", "mlir/IR/Value.h")
        self.assertEqual(self.wrong(),
                         ["lib/Plan/Graph/Box.cpp:2: Plan may not include 'mlir/IR/Value.h'"])

    def test_private_header_of_a_later_room(self):
        self.plant("lib/Plan/Cost/Cost.cpp", "Step/TaskSink.h")
        self.assertEqual(self.wrong(), ["lib/Plan/Cost/Cost.cpp:2: Cost may not include "
                                        "'Step/TaskSink.h' of Step"])

    def test_public_header_of_a_later_room(self):
        self.plant("lib/Plan/Memory/Arena.cpp", "ffc/Plan/Reshard.h")
        self.assertEqual(self.wrong(), ["lib/Plan/Memory/Arena.cpp:2: Memory may not include "
                                        "'ffc/Plan/Reshard.h' of Step"])

    def test_public_header_to_public_header(self):
        self.plant("include/ffc/Plan/Cost.h", "ffc/Plan/Planner.h")
        self.assertEqual(self.wrong(), ["include/ffc/Plan/Cost.h:2: Cost may not include "
                                        "'ffc/Plan/Planner.h' of Step"])

    def test_private_header_in_a_public_one(self):
        self.plant("include/ffc/Plan/Planner.h", "Order/StepOrder.h")
        self.assertEqual(self.wrong(), ["include/ffc/Plan/Planner.h:2: Plan may not include "
                                        "'Order/StepOrder.h'"])

    def test_operator_of_the_runtime(self):
        self.plant("runtime/src/cuda/conv/conv.cu", "common/data/npy.h")
        self.plant("runtime/src/cuda/plans/tuner.cpp", "common/data/npy.h")
        self.assertEqual(self.wrong(), ["runtime/src/cuda/conv/conv.cu:2: runtime/src/cuda/conv "
                                        "may not include 'common/data/npy.h'"])

    def test_no_room(self):
        self.plant("lib/Plan/Lonely.cpp", "ffc/Plan/Box.h")
        self.plant("lib/Plan/Attic/Lonely.cpp", "ffc/Plan/Box.h")
        self.plant("include/ffc/Plan/HeaderOnly.h", "ffc/Plan/Box.h")
        self.assertEqual(sorted(self.wrong()),
                         ["include/ffc/Plan/HeaderOnly.h: is in no room of lib/Plan",
                          "lib/Plan/Attic/Lonely.cpp: is in no room of lib/Plan",
                          "lib/Plan/Lonely.cpp: is in no room of lib/Plan"])

    def rewrite(self, old, new):
        """Changes the table of the rooms in the documentation."""
        with open(self.table, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(self.table, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def test_other_arrows_in_the_documentation(self):
        self.rewrite("| Cost, Timing |", "| Timing |")
        self.assertEqual(self.wrong(), [
            "docs/architecture.md: expected room 'Report' that includes 'Cost, Timing', found "
            "'Report' that includes 'Timing'"])

    def test_no_such_room_in_the_documentation(self):
        self.rewrite("| `FlexNet` |", "FlexNet:")
        self.assertEqual(self.wrong(), [
            "docs/architecture.md: expected room 'FlexNet' that includes 'Text, Graph, "
            "Strategy, Cost, "
            "Step', found '' that includes ''"])

    def test_cycle(self):
        before = includes.ROOMS["Cost"]
        self.addCleanup(includes.ROOMS.update, Cost=before)
        includes.ROOMS["Cost"] = before + " Step"
        self.rewrite("Program, Collectives |", "Program, Collectives, Step |")
        self.assertEqual(self.wrong(),
                         ["room Cost may not include Step, which does not stand before it",
                          "room Cost does not include Step any more"])


if __name__ == "__main__":
    unittest.main()
