#!/usr/bin/env bash
# onnxslim 0.1.98, onnxoptimizer 0.4.2: two optimizers of ONNX files change shapes and numbers.
#
# Guessed before the run: all passes keep the results.
# Seen: onnxslim takes a vector that multiplies the last axis behind a convolution for one factor a channel, and puts it
# into the weights, where the sizes are equal: another axis is scaled. It takes 0.0 and -0.0 for one constant: x / 0.0 -
# x / -0.0 is nan, not infinity. onnxoptimizer merges two Reshapes and keeps the second's target; a 0 in it, "as many as
# before", then counts from the first input: (1, 2, 25) for (5, 2, 5). Nothing is raised, and the files pass ONNX's
# checker. onnxsim 0.8.1 keeps all of it.
# What it means: a model that is made smaller and faster answers otherwise; where a wrong shape still fits, only a
# comparison with the first file shows it. This project uses neither.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "numpy==2.4.6" "onnx==1.23.2" \
    "onnxruntime==1.31.1" "onnxslim==0.1.98" "onnxoptimizer==0.4.2" "onnxsim==0.8.1"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from collections.abc import Callable

import numpy
import onnx
import onnxoptimizer
import onnxruntime
import onnxsim
import onnxslim
from onnx import TensorProto, helper, numpy_helper

Arrays = dict[str, numpy.ndarray]
node = helper.make_node
numbers = numpy.random.default_rng(0)


def model(steps: list[onnx.NodeProto], constants: Arrays, x: numpy.ndarray, shape: list[int]) -> onnx.ModelProto:
    """A model from x to y of that shape."""
    kept = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    source = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    target = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(steps, "graph", [source], [target], kept)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def run(made: onnx.ModelProto, x: numpy.ndarray) -> numpy.ndarray:
    """What the model computes, as it is written."""
    onnx.checker.check_model(made)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def slim(made: onnx.ModelProto) -> onnx.ModelProto:
    return onnxslim.slim(made)


def optimize(made: onnx.ModelProto) -> onnx.ModelProto:
    return onnxoptimizer.optimize(made, onnxoptimizer.get_fuse_and_elimination_passes(), fixed_point=True)


def simplify(made: onnx.ModelProto) -> onnx.ModelProto:
    return onnxsim.simplify(made)[0]


def same(optimizer: Callable[[onnx.ModelProto], onnx.ModelProto], made: onnx.ModelProto, x: numpy.ndarray) -> bool:
    before = run(made, x)
    after = run(optimizer(made), x)
    return before.shape == after.shape and numpy.allclose(before, after, atol=1e-5, equal_nan=True)


def floats(*values: float) -> numpy.ndarray:
    return numpy.array(values, numpy.float32)


def shape(*values: int) -> numpy.ndarray:
    return numpy.array(values, numpy.int64)


image = numbers.normal(size=(1, 2, 5, 5)).astype(numpy.float32)
weights = numbers.normal(size=(3, 2, 3, 3)).astype(numpy.float32)
steps = [node("Conv", ["x", "weights"], ["a"]), node("Mul", ["a", "factors"], ["y"])]
scaled = model(steps, {"weights": weights, "factors": floats(1, 2, 3)}, image, [1, 3, 3, 3])
assert not same(slim, scaled, image)
assert numpy.allclose(run(slim(scaled), image)[0, 1, 0, 0], 2 * run(scaled, image)[0, 1, 0, 0], atol=1e-5)
assert same(optimize, scaled, image) and same(simplify, scaled, image)

steps = [node("Reshape", ["x", "first"], ["a"]), node("Reshape", ["a", "second"], ["y"])]
shaped = model(steps, {"first": shape(5, 10), "second": shape(0, 2, -1)}, image, [5, 2, 5])
assert run(shaped, image).shape == (5, 2, 5) and run(optimize(shaped), image).shape == (1, 2, 25)
assert same(slim, shaped, image) and same(simplify, shaped, image)

steps = [node("Div", ["x", "zero"], ["a"]), node("Div", ["x", "minus"], ["b"]), node("Sub", ["a", "b"], ["y"])]
zeros = model(steps, {"zero": floats(0.0), "minus": floats(-0.0)}, floats(1, 2), [2])
assert run(zeros, floats(1, 2)).tolist() == [numpy.inf] * 2
assert numpy.isnan(run(slim(zeros), floats(1, 2))).all()
assert same(simplify, zeros, floats(1, 2))

print("as described: a vector scales another axis, and a Reshape has another shape")
PYTHON
