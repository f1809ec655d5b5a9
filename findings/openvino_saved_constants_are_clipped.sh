#!/usr/bin/env bash
# OpenVINO 2026.4.1: `save_model` clips the large numbers of a constant at 65,504, but keeps them beside an 8,195.
#
# Guessed before the run: weights are saved as float16, which is the documented default, and a constant with a number
# that float16 cannot hold stays float32.
# Seen: numbers beyond 65,504 are clipped to it, and minus infinity becomes -65,504, as long as they are less than three
# quarters of their constant. With three quarters the whole constant stays float32, and so does a constant of a single
# number. So does one in which any smaller number would lose more than 1 by rounding: [48312000, 1.5, 8200] becomes
# [65504, 1.5, 8200], but [48312000, 1.5, 8195] is kept, for float16 has no 8,195.
# What it means: a table of figures inside a graph, or the -1e9 of a mask, changes silently when a converted model is
# saved: the model in memory is right, the one read back is wrong, or right by what stands beside the number.
# `compress_to_fp16=False` keeps everything; this project saves its own models with it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "openvino==2026.4.1" "numpy==2.4.6"
FOLDER="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import math
import os
from pathlib import Path

import numpy as np
import openvino
from openvino import opset15 as operators

FILE = Path(os.environ["FOLDER"], "model.xml")
FULL_PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
core = openvino.Core()


def graph(constant: list[float]) -> openvino.Model:
    """A graph that adds the constant to its input."""
    given = operators.parameter([len(constant)], np.float32)
    return openvino.Model([operators.add(given, operators.constant(np.array(constant, np.float32)))], [given])


def run(model: openvino.Model) -> list[float]:
    """The constant, as the compiled graph adds it to zeros."""
    compiled = core.compile_model(model, "CPU", FULL_PRECISION)
    return compiled([np.zeros(model.input(0).shape, np.float32)])[0].tolist()


def read_back(constant: list[float], **options: bool) -> list[float]:
    openvino.save_model(graph(constant), FILE, **options)
    return run(core.read_model(FILE))


figures = [48312000.0, 123456.0, 2019.0, 1.5]
assert run(graph(figures)) == figures
assert read_back(figures) == [65504.0, 65504.0, 2019.0, 1.5], read_back(figures)
assert read_back(figures, compress_to_fp16=False) == figures

assert read_back([48312000.0]) == [48312000.0]
assert read_back([48312000.0] * 2 + [1.5] * 2) == [65504.0] * 2 + [1.5] * 2
assert read_back([48312000.0] * 3 + [1.5]) == [48312000.0] * 3 + [1.5]
assert read_back([-1e9, 0.0]) == [-65504.0, 0.0]
assert read_back([-math.inf, 0.0]) == [-65504.0, 0.0]

# float16 holds 8,192 and 8,200 here, nothing between
assert read_back([48312000.0, 1.5, 8200.0]) == [65504.0, 1.5, 8200.0]
assert read_back([48312000.0, 1.5, 8195.0]) == [48312000.0, 1.5, 8195.0]

print("as described: large numbers are clipped at 65504 when saved, unless others in the constant prevent it")
PYTHON
