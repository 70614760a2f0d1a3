#!/usr/bin/env python3
"""Answers that hang on last bits are told from wrong ones."""

import json
import unittest

import numpy as np

from graph_checker import hangs_on_last_bits
from graph_expected import Expected
from graph_oracle import Oracle
from onnx_graph import Graph, Value


class Tie:
    """Floor of inputs next to whole numbers, as an oracle in f32 computes it."""

    def __init__(self, inputs, answers):
        self.inputs = inputs
        self.report = {
            "values": {"out/y": {"data": answers, "shape": [len(answers)], "noise": 0}},
            "inputs": {"x": {"data": inputs, "shape": [len(inputs)]}}, "losses": [],
            "loss_noise": []}
        self.expected = Expected(json.loads(json.dumps(self.report)))

    def hangs_on_last_bits(self):
        graph = Graph([Value("x", (len(self.inputs),))])
        oracle = Oracle("Floor", lambda model, feeds: {"y": np.floor(feeds["x"])}, graph,
                        self.report)
        return hangs_on_last_bits(self.expected, oracle)


class HangsOnLastBit(unittest.TestCase):
    def test_ties_go_either_way(self):
        self.assertTrue(Tie([3, 2.5, 4], [2, 2, 4]).hangs_on_last_bits())

    def test_beside_a_tie_a_fault_is_one(self):
        self.assertFalse(Tie([3, 2.5, 4], [2, 3, 4]).hangs_on_last_bits())

    def test_ties_are_no_excuse_for_more(self):
        self.assertFalse(Tie([3, 2.5, 4], [1, 2, 4]).hangs_on_last_bits())

    def test_nobody_computes_another_shape(self):
        self.assertFalse(Tie([3, 2.5], [2, 2, 4]).hangs_on_last_bits())

    def test_values_of_a_graph_are_moved_as_inputs_are(self):
        graph = Graph([], {"c": (Value("c", (2,)), [3.0, 2.5])})
        moved = graph.shaken(lambda numbers: np.asarray(numbers) * (1 - 2.0**-23))
        self.assertTrue((np.floor(moved.initializers["c"][1]) == [2, 2]).all())


if __name__ == "__main__":
    unittest.main()
