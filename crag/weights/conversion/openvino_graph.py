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

from crag.weights.adapter_files import LAYERS, MATRICES_OF_LAYER

SCALE = ".scale"
"""Appended to a matrix's name: float16, (rows, 1)."""
_TO_THE_END = 2**31 - 1
"""As the end of a slice."""
_LOWEST_HALF = np.float32(-65504.0)
"""The lowest number in half precision, for what attention must not see."""


def build_graph(config: dict[str, Any], weights: Mapping[str, NDArray[Any]]) -> ov.Model:
    """The graph of the model with this `config.json`; it uses the arrays for its whole life.

    `weights` has Hugging Face's names: an int8 matrix has a second entry, its name with `SCALE`.
    Raises ValueError: not a Llama or Qwen2 model.
    """
    family = config["model_type"]
    if family not in {"llama", "qwen2"}:
        raise ValueError(f"a {family} model: only llama and qwen2 models are known")
    return _GraphBuilder(config, weights).build()


def find_matrix_products(graph: ov.Model) -> dict[str, ov.Node]:
    """The products with the layers' matrices in a graph of `build_graph`, also if it was read from a file."""
    products = [node for node in graph.get_ops() if node.get_type_name() == "MatMul"]
    # Names end with a number that counts up as the builder makes nodes: MatMul_116
    products.sort(key=lambda node: int(node.get_friendly_name().rpartition("_")[2]))

    layers = len(products) // len(MATRICES_OF_LAYER)  # one product more is with the vocabulary's matrix
    names = [f"{LAYERS}{number}.{name}" for number in range(layers) for name in MATRICES_OF_LAYER]
    return dict(zip(names, products, strict=False))


class _GraphBuilder:
    """Builds one graph: a method for each part of a layer."""

    def __init__(self, config: dict[str, Any], weights: Mapping[str, NDArray[Any]]) -> None:
        self._config = config
        self._weights = weights
        self._heads: int = config["num_attention_heads"]
        self._key_value_heads: int = config["num_key_value_heads"]
        self._head_size: int = config["hidden_size"] // self._heads
        # Sinks write the cache, parameters are inputs: OpenVINO must be told of both when the model is made
        self._sinks: list[ov.Node] = []
        self._parameters: list[ov.Node] = []

        self._tokens = self._input("input_ids", [-1, -1], ov.Type.i64)
        self._mask = self._input("attention_mask", [-1, -1], ov.Type.i64)
        self._positions = self._input("position_ids", [-1, -1], ov.Type.i64)
        self._rows_of_cache = self._input("beam_idx", [-1], ov.Type.i32)

        # Sizes that are known only when the graph runs
        self._rows = _dimension(self._tokens, 0)
        self._width = _dimension(self._mask, 1)

    def build(self) -> ov.Model:
        states = self._embed()
        cosine, sine = self._rotary_embedding()
        attention_mask = self._attention_mask()
        logits_to_keep = self._input("kept", [1], ov.Type.i64)
        last_layer = self._config["num_hidden_layers"] - 1
        for number in range(last_layer + 1):
            layer = f"{LAYERS}{number}"
            normed = self._normalise(states, f"{layer}.input_layernorm")
            attended = self._attention(normed, layer, cosine, sine, attention_mask)
            if number == last_layer:
                # Logits only after the last tokens: the vocabulary's matrix is the largest. No layer reads the others.
                attended = _newest(attended, logits_to_keep)
                states = _newest(states, logits_to_keep)
            states = op.add(states, self._linear(attended, f"{layer}.self_attn.o_proj"))

            normed = self._normalise(states, f"{layer}.post_attention_layernorm")
            transformed = self._feed_forward(normed, layer)
            states = op.add(states, transformed)

        normed = self._normalise(states, "model.norm")
        head = "model.embed_tokens" if self._config["tie_word_embeddings"] else "lm_head"
        logits = op.matmul(normed, self._matrix(head), transpose_a=False, transpose_b=True)

        # The engine asks for the output by this name
        result = op.result(logits)
        result.output(0).set_names({"logits"})
        return ov.Model(
            [result],
            self._sinks,
            self._parameters,
            self._config["model_type"],
        )

    # --- inputs and weights ------------------------------------------------------------------------------------------

    def _input(self, name: str, shape: list[int], kind: ov.Type) -> ov.Node:
        node = op.parameter(shape, kind, name=name)
        node.output(0).set_names({name})
        self._parameters.append(node)
        return node

    def _constant(self, name: str) -> ov.Node:
        # Shared: a copy would double the memory of the largest arrays
        return op.constant(self._weights[name], shared_memory=True)

    def _matrix(self, name: str) -> ov.Node:
        """The plugin multiplies with the integers directly; the conversion only represents that in the graph."""
        integers = self._constant(f"{name}.weight")
        scale = self._constant(f"{name}.weight{SCALE}")
        values = op.multiply(op.convert(integers, "f16"), scale)
        return op.convert(values, "f32")

    def _vector(self, name: str) -> ov.Node:
        # Spread over (rows x tokens x size)
        return op.constant(self._weights[name].reshape(1, 1, -1))

    # --- before the layers -------------------------------------------------------------------------------------------

    def _embed(self) -> ov.Node:
        """The embeddings of the new tokens: (rows x new tokens x hidden size)."""
        integers = self._embedding_rows("model.embed_tokens.weight")
        scales = self._embedding_rows(f"model.embed_tokens.weight{SCALE}")
        return op.multiply(integers, scales)

    def _embedding_rows(self, name: str) -> ov.Node:
        rows = op.gather(self._constant(name), self._tokens, integer(0))
        return op.convert(rows, "f32")

    def _rotary_embedding(self) -> tuple[ov.Node, ov.Node]:
        """Cosine and sine of the rotary embedding (Su et al. 2021), each (rows x 1 x new tokens x head size)."""
        # transformers 5 nests `rope_theta` in a table, earlier versions keep it at the top
        rope = self._config.get("rope_parameters") or self._config
        exponents = np.arange(0, self._head_size, 2, dtype=np.float32) / self._head_size
        frequencies = (1.0 / rope["rope_theta"] ** exponents).astype(np.float32)

        # Positions as a column, frequencies as a row: (rows x new tokens x half the head size).
        positions = op.convert(op.unsqueeze(self._positions, integers(2)), "f32")
        angles = op.multiply(positions, op.constant(frequencies.reshape(1, 1, -1)))
        # Both halves of a head turn by the same angles: see `_rotate`
        both_halves = op.concat([angles, angles], -1)
        cosine = op.unsqueeze(op.cos(both_halves), integers(1))
        sine = op.unsqueeze(op.sin(both_halves), integers(1))
        return cosine, sine

    def _attention_mask(self) -> ov.Node:
        """0 if a new token sees an earlier one, else a very low number: (rows x 1 x new tokens x all tokens)."""
        # Queries are the new tokens, which follow the cached ones; keys are all tokens.
        new_tokens = _dimension(self._tokens, 1)
        key_positions = _count_up_to(self._width)
        # With 10 cached and 3 new tokens the queries stand at 10, 11 and 12
        first_new = op.subtract(self._width, new_tokens)
        query_positions = op.add(_count_up_to(new_tokens), first_new)

        keys_in_row = op.unsqueeze(key_positions, integers(0))
        queries_in_column = op.unsqueeze(query_positions, integers(1))
        is_earlier = op.less_equal(keys_in_row, queries_in_column)
        is_no_padding = op.equal(self._mask, integer(1))

        # Both spread over (rows x 1 x new tokens x all tokens).
        is_visible = op.logical_and(
            op.unsqueeze(is_earlier, integers(0, 1)),
            op.unsqueeze(is_no_padding, integers(1, 2)),
        )
        return op.select(is_visible, op.constant(np.float32(0)), op.constant(_LOWEST_HALF))

    # --- a layer -----------------------------------------------------------------------------------------------------

    def _normalise(self, states: ov.Node, name: str) -> ov.Node:
        """RMS normalisation, in the form that the plugin fuses."""
        squares = op.power(states, _floats(2.0))
        mean = op.reduce_mean(squares, integers(-1), keep_dims=True)
        root = op.sqrt(op.add(mean, _floats(self._config["rms_norm_eps"])))
        inverse = op.divide(_floats(1.0), root)
        normalised = op.multiply(states, inverse)
        return op.multiply(normalised, self._vector(f"{name}.weight"))

    def _linear(self, states: ov.Node, name: str) -> ov.Node:
        product = op.matmul(states, self._matrix(name), transpose_a=False, transpose_b=True)
        # Llama's projections have no bias, Qwen2's q, k and v do
        if f"{name}.bias" not in self._weights:
            return product
        return op.add(product, self._vector(f"{name}.bias"))

    def _attention(
        self,
        states: ov.Node,
        layer: str,
        cosine: ov.Node,
        sine: ov.Node,
        mask: ov.Node,
    ) -> ov.Node:
        """What the heads of each token have mixed: (rows x new tokens x hidden size)."""
        name = f"{layer}.self_attn"
        query = self._linear(states, f"{name}.q_proj")
        query = self._split_heads(query, self._heads)
        query = self._rotate(query, cosine, sine)

        key = self._linear(states, f"{name}.k_proj")
        key = self._split_heads(key, self._key_value_heads)
        key = self._rotate(key, cosine, sine)

        value = self._linear(states, f"{name}.v_proj")
        value = self._split_heads(value, self._key_value_heads)

        all_keys = self._append_to_cache(key, f"{layer}.key")
        all_values = self._append_to_cache(value, f"{layer}.value")
        mixed = op.scaled_dot_product_attention(query, all_keys, all_values, mask)

        # The heads of a token beside each other again.
        width = self._heads * self._head_size
        by_token = op.transpose(mixed, integers(0, 2, 1, 3))
        return op.reshape(by_token, integers(0, 0, width), special_zero=True)

    def _split_heads(self, states: ov.Node, heads: int) -> ov.Node:
        """(rows x new tokens x width) -> (rows x heads x new tokens x head size)."""
        split = op.reshape(states, integers(0, 0, heads, self._head_size), special_zero=True)
        return op.transpose(split, integers(0, 2, 1, 3))

    def _rotate(self, states: ov.Node, cosine: ov.Node, sine: ov.Node) -> ov.Node:
        """Rotate queries or keys by their positions: Hugging Face's form, which pairs the halves of a head."""
        middle = self._head_size // 2
        first = _slice_of_heads(states, 0, middle)
        second = _slice_of_heads(states, middle, _TO_THE_END)

        # A rotation by 90 degrees: (first, second) becomes (-second, first)
        minus_one = op.constant(np.full((1, 1, 1, 1), -1, np.float32))
        negated = op.multiply(second, minus_one)
        turned = op.concat([negated, first], -1)
        return op.add(op.multiply(states, cosine), op.multiply(turned, sine))

    def _append_to_cache(self, new: ov.Node, name: str) -> ov.Node:
        """Earlier and new keys (or values), repeated for the query heads that share them."""
        # The state lives in the plugin between two calls; only its name ties reading and writing together
        variable = util.VariableInfo()
        variable.data_shape = ov.PartialShape([-1, self._key_value_heads, -1, self._head_size])
        variable.data_type = ov.Type.f32
        variable.variable_id = name
        state = util.Variable(variable)

        # The cache begins with no token: (rows x heads x 0 x head size).
        empty_shape = op.concat(
            [
                self._rows,
                integers(
                    self._key_value_heads,
                    0,
                    self._head_size,
                ),
            ],
            0,
        )
        empty = op.broadcast(op.constant(np.float32(0)), empty_shape)
        past = op.read_value(empty, state)
        # Rows may be reordered, repeated or dropped from one call to the next
        continued = op.gather(past, self._rows_of_cache, integer(0))
        past_and_new = op.concat([continued, new], 2)
        # The cache keeps the unrepeated heads, which is the point of sharing them
        self._sinks.append(op.assign(past_and_new, state))
        if self._key_value_heads == self._heads:
            return past_and_new

        # Multiplied by ones, not broadcast: the plugin fuses this form with attention and cache.
        repetitions = self._heads // self._key_value_heads
        ones = op.constant(np.ones((1, 1, repetitions, 1, 1), np.float32))
        repeated = op.multiply(op.unsqueeze(past_and_new, integer(2)), ones)
        new_shape = integers(0, self._heads, -1, self._head_size)
        return op.reshape(repeated, new_shape, special_zero=True)

    def _feed_forward(self, states: ov.Node, layer: str) -> ov.Node:
        gate = op.swish(self._linear(states, f"{layer}.mlp.gate_proj"))
        up = self._linear(states, f"{layer}.mlp.up_proj")
        return self._linear(op.multiply(gate, up), f"{layer}.mlp.down_proj")


# --- constants --------------------------------------------------------------------------------------------------------


def integers(*values: int) -> ov.Node:
    """A constant vector of integers: shapes, axes, indices."""
    return op.constant(np.array(values, np.int64))


def integer(value: int) -> ov.Node:
    """A constant integer."""
    return op.constant(np.int64(value))


def _slice_of_heads(states: ov.Node, start: int, stop: int) -> ov.Node:
    """A part of the last dimension of (rows x heads x new tokens x head size)."""
    return op.slice(
        states,
        integers(start),
        integers(stop),
        integers(1),
        integers(3),
    )


def _newest(states: ov.Node, count: ov.Node) -> ov.Node:
    """The last tokens of (rows x new tokens x size)."""
    return op.slice(
        states,
        op.negative(count),
        integers(_TO_THE_END),
        integers(1),
        integers(1),
    )


def _count_up_to(length: ov.Node) -> ov.Node:
    """0, 1, ... before a number that is an array of length 1."""
    end = op.squeeze(length, integers(0))
    return op.range(integer(0), end, integer(1), "i64")


def _floats(value: float) -> ov.Node:
    """A number that is spread over (rows x tokens x hidden size)."""
    return op.constant(np.full((1, 1, 1), value, np.float32))


def _dimension(node: ov.Node, axis: int) -> ov.Node:
    """One number of a node's shape, as an array of length 1."""
    return op.gather(op.shape_of(node), integers(axis), integer(0))
