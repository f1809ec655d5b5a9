"""A Llama or Qwen2 model as an OpenVINO graph with int8 weights and a key-value cache.

Inputs: ``input_ids``, ``position_ids`` (rows x new tokens), ``attention_mask`` (rows x all tokens so far; 0: padding),
``beam_idx`` (for each row, the cache row that it continues) and ``kept``. Output: ``logits`` (rows x kept x vocabulary)
of the last tokens.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op
from openvino.op import util

SCALE = ".scale"
"""Appended to a matrix's name: float16, (rows, 1)."""
_ALL = 2**31 - 1
_LOWEST = np.float32(-65504.0)


def build_graph(config: dict[str, Any], weights: Mapping[str, NDArray[Any]]) -> ov.Model:
    """The graph of the model with this `config.json`; it uses the arrays for its whole life.
    Raises ValueError: not a Llama or Qwen2 model.
    """
    if (kind := config["model_type"]) not in {"llama", "qwen2"}:
        raise ValueError(f"a {kind} model: only llama and qwen2 models are known")
    return _Builder(config, weights).model()


class _Builder:
    def __init__(self, config: dict[str, Any], weights: Mapping[str, NDArray[Any]]) -> None:
        self._config = config
        self._weights = weights
        self._heads, self._groups = config["num_attention_heads"], config["num_key_value_heads"]
        self._size = config["hidden_size"] // self._heads
        self._sinks: list[ov.Node] = []
        self._parameters: list[ov.Node] = []
        self._tokens = self._input("input_ids", [-1, -1], ov.Type.i64)
        self._mask = self._input("attention_mask", [-1, -1], ov.Type.i64)
        self._positions = self._input("position_ids", [-1, -1], ov.Type.i64)
        self._rows_of_cache = self._input("beam_idx", [-1], ov.Type.i32)
        self._rows = _dimension(self._tokens, 0)
        self._width = _dimension(self._mask, 1)

    def model(self) -> ov.Model:
        x = self._embedded()
        cosine, sine = self._rotation()
        seen = self._seen()
        for number in range(self._config["num_hidden_layers"]):
            layer = f"model.layers.{number}"
            x = op.add(x, self._attention(self._normed(x, f"{layer}.input_layernorm"), layer, cosine, sine, seen))
            x = op.add(x, self._feed_forward(self._normed(x, f"{layer}.post_attention_layernorm"), layer))
        kept = self._input("kept", [1], ov.Type.i64)
        last = op.slice(x, op.negative(kept), _integers(_ALL), _integers(1), _integers(1))
        head = "model.embed_tokens" if self._config["tie_word_embeddings"] else "lm_head"
        logits = op.matmul(self._normed(last, "model.norm"), self._matrix(head), False, True)
        result = op.result(logits)
        result.output(0).set_names({"logits"})
        return ov.Model([result], self._sinks, self._parameters, self._config["model_type"])

    def _input(self, name: str, shape: list[int], kind: ov.Type) -> ov.Node:
        node = op.parameter(shape, kind, name=name)
        node.output(0).set_names({name})
        self._parameters.append(node)
        return node

    def _constant(self, name: str) -> ov.Node:
        return op.constant(self._weights[name], shared_memory=True)

    def _matrix(self, name: str) -> ov.Node:
        """The plugin multiplies with the integers directly; the conversion only represents that in the graph."""
        integers, scale = self._constant(f"{name}.weight"), self._constant(f"{name}.weight{SCALE}")
        return op.convert(op.multiply(op.convert(integers, "f16"), scale), "f32")

    def _vector(self, name: str) -> ov.Node:
        return op.constant(self._weights[name].reshape(1, 1, -1))

    def _embedded(self) -> ov.Node:
        rows = [
            op.convert(op.gather(self._constant(f"model.embed_tokens.weight{part}"), self._tokens, _integer(0)), "f32")
            for part in ("", SCALE)
        ]
        return op.multiply(*rows)

    def _rotation(self) -> tuple[ov.Node, ov.Node]:
        """Cosine and sine of the rotary embedding (Su et al. 2021), each (rows x 1 x new tokens x head size)."""
        exponents = np.arange(0, self._size, 2, dtype=np.float32) / self._size
        rope = self._config.get("rope_parameters") or self._config
        frequencies = (1.0 / rope["rope_theta"] ** exponents).astype(np.float32).reshape(1, 1, -1)
        angles = op.multiply(op.convert(op.unsqueeze(self._positions, _integers(2)), "f32"), op.constant(frequencies))
        both = op.concat([angles, angles], -1)
        return op.unsqueeze(op.cos(both), _integers(1)), op.unsqueeze(op.sin(both), _integers(1))

    def _seen(self) -> ov.Node:
        """0 if a new token sees an earlier one, else a very low number: (rows x 1 x new tokens x all tokens)."""
        new = _dimension(self._tokens, 1)
        keys = op.range(_integer(0), op.squeeze(self._width, _integers(0)), _integer(1), "i64")
        first = op.subtract(self._width, new)
        queries = op.add(op.range(_integer(0), op.squeeze(new, _integers(0)), _integer(1), "i64"), first)
        earlier = op.less_equal(op.unsqueeze(keys, _integers(0)), op.unsqueeze(queries, _integers(1)))
        real = op.unsqueeze(op.equal(self._mask, _integer(1)), _integers(1, 2))
        both = op.logical_and(op.unsqueeze(earlier, _integers(0, 1)), real)
        return op.select(both, op.constant(np.float32(0)), op.constant(_LOWEST))

    def _normed(self, x: ov.Node, name: str) -> ov.Node:
        """RMS normalisation, in the form that the plugin fuses."""
        mean = op.reduce_mean(op.power(x, _floats(2.0)), _integers(-1), keep_dims=True)
        inverse = op.divide(_floats(1.0), op.sqrt(op.add(mean, _floats(self._config["rms_norm_eps"]))))
        return op.multiply(op.multiply(x, inverse), self._vector(f"{name}.weight"))

    def _linear(self, x: ov.Node, name: str) -> ov.Node:
        y = op.matmul(x, self._matrix(name), False, True)
        return op.add(y, self._vector(f"{name}.bias")) if f"{name}.bias" in self._weights else y

    def _attention(self, x: ov.Node, layer: str, cosine: ov.Node, sine: ov.Node, seen: ov.Node) -> ov.Node:
        name = f"{layer}.self_attn"
        query = self._rotated(self._in_heads(self._linear(x, f"{name}.q_proj"), self._heads), cosine, sine)
        key = self._rotated(self._in_heads(self._linear(x, f"{name}.k_proj"), self._groups), cosine, sine)
        value = self._in_heads(self._linear(x, f"{name}.v_proj"), self._groups)
        past = [self._cached(new, f"{layer}.{kind}") for new, kind in ((key, "key"), (value, "value"))]
        mixed = op.scaled_dot_product_attention(query, *past, seen)
        flat = op.reshape(op.transpose(mixed, _integers(0, 2, 1, 3)), _integers(0, 0, self._heads * self._size), True)
        return self._linear(flat, f"{name}.o_proj")

    def _in_heads(self, x: ov.Node, heads: int) -> ov.Node:
        return op.transpose(op.reshape(x, _integers(0, 0, heads, self._size), True), _integers(0, 2, 1, 3))

    def _rotated(self, x: ov.Node, cosine: ov.Node, sine: ov.Node) -> ov.Node:
        middle = self._size // 2
        first = op.slice(x, _integers(0), _integers(middle), _integers(1), _integers(3))
        second = op.slice(x, _integers(middle), _integers(_ALL), _integers(1), _integers(3))
        turned = op.concat([op.multiply(second, op.constant(np.full((1, 1, 1, 1), -1, np.float32))), first], -1)
        return op.add(op.multiply(x, cosine), op.multiply(turned, sine))

    def _cached(self, new: ov.Node, name: str) -> ov.Node:
        """Earlier and new keys (or values), repeated for the query heads that share them."""
        variable = util.VariableInfo()
        variable.data_shape = ov.PartialShape([-1, self._groups, -1, self._size])
        variable.data_type = ov.Type.f32
        variable.variable_id = name
        state = util.Variable(variable)
        empty = op.concat([self._rows, _integers(self._groups, 0, self._size)], 0)
        past = op.read_value(op.broadcast(op.constant(np.float32(0)), empty), state)
        every = op.concat([op.gather(past, self._rows_of_cache, _integer(0)), new], 2)
        self._sinks.append(op.assign(every, state))
        if self._groups == self._heads:
            return every
        # Multiplied by ones, not broadcast: the plugin fuses this form with attention and cache.
        ones = op.constant(np.ones((1, 1, self._heads // self._groups, 1, 1), np.float32))
        wide = op.multiply(op.unsqueeze(every, _integer(2)), ones)
        return op.reshape(wide, _integers(0, self._heads, -1, self._size), True)

    def _feed_forward(self, x: ov.Node, layer: str) -> ov.Node:
        gate = op.swish(self._linear(x, f"{layer}.mlp.gate_proj"))
        return self._linear(op.multiply(gate, self._linear(x, f"{layer}.mlp.up_proj")), f"{layer}.mlp.down_proj")


def _integers(*values: int) -> ov.Node:
    return op.constant(np.array(values, np.int64))


def _integer(value: int) -> ov.Node:
    return op.constant(np.int64(value))


def _floats(value: float) -> ov.Node:
    return op.constant(np.full((1, 1, 1), value, np.float32))


def _dimension(x: ov.Node, axis: int) -> ov.Node:
    return op.gather(op.shape_of(x), _integers(axis), _integer(0))
