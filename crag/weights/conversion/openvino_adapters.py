"""Adds LoRA adapters to an OpenVINO graph of `crag.weights.conversion.openvino_graph`: rows with and without one mix.

The graph gets two inputs: ``adapted_rows`` (n) are the rows of the batch that use an adapter, and ``adapter_gates``
(n x 1 x adapters) is 1 for the adapter of each such row, else 0. Only those rows are multiplied with the adapters'
matrices: if there are none, the arrays are empty and the plugin skips them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import openvino as ov
from openvino import opset15 as op

from crag.weights.adapter_files import LowRank, Matrix
from crag.weights.conversion.int8 import quantise
from crag.weights.conversion.openvino_graph import find_matrix_products, integer, integers


def add_adapters(graph: ov.Model, adapters: Sequence[Mapping[str, LowRank]]) -> None:
    """Add the products of adapters, each given by the names of its matrices; they stay in the order of the gates."""
    builder = _AdapterBuilder(graph, adapters)
    products = find_matrix_products(graph)

    # Matrices that read the same values, such as query, key and value, share the first step
    matrices_by_input: dict[ov.Output, dict[str, ov.Node]] = {}
    for name, product in products.items():
        matrices_by_input.setdefault(product.input_value(0), {})[name] = product
    for states, products_of_input in matrices_by_input.items():
        builder.add(states, products_of_input)
    graph.validate_nodes_and_infer_types()


class _Stack(NamedTuple):
    """The products of all adapters for one matrix, side by side along their ranks."""

    down: Matrix
    up: Matrix
    owners: list[int]
    """The adapter of each rank."""


class _AdapterBuilder:
    """Adds the nodes for one group of matrices after the other."""

    def __init__(self, graph: ov.Model, adapters: Sequence[Mapping[str, LowRank]]) -> None:
        self._adapters = adapters
        rows = op.parameter([-1], ov.Type.i64, name="adapted_rows")
        gates = op.parameter([-1, 1, len(adapters)], ov.Type.f32, name="adapter_gates")
        for node in (rows, gates):
            node.output(0).set_names({node.get_friendly_name()})
        graph.add_parameters([rows, gates])

        self._rows = rows
        self._rows_in_column = op.unsqueeze(rows, integers(1))
        self._gates = gates
        self._gates_by_owners: dict[tuple[int, ...], ov.Node] = {}

    def add(self, states: ov.Output, products: Mapping[str, ov.Node]) -> None:
        """Add the adapters' products to those of the matrices that read `states`."""
        stacks = {name: self._stack(name) for name in products}
        tuned = {name: stack for name, stack in stacks.items() if stack is not None}
        if not tuned:
            return

        states_of_rows = op.gather(states, self._rows, integer(0))
        down = np.concatenate([stack.down for stack in tuned.values()])
        lowered = op.matmul(states_of_rows, _as_integers(down), transpose_a=False, transpose_b=True)
        if len(self._adapters) > 1:
            owners = [owner for stack in tuned.values() for owner in stack.owners]
            lowered = op.multiply(lowered, self._gates_of(owners))

        ranks = [len(stack.down) for stack in tuned.values()]
        parts = lowered.outputs()
        if len(ranks) > 1:
            parts = op.variadic_split(lowered, integer(2), integers(*ranks)).outputs()
        for (name, stack), part in zip(tuned.items(), parts, strict=True):
            # In float32: with so few columns the plugin needs more time to unpack integers than to multiply
            up = op.constant(np.ascontiguousarray(stack.up, np.float32))
            change = op.matmul(part, up, transpose_a=False, transpose_b=True)
            self._add_to_rows(products[name], change)

    def _add_to_rows(self, product: ov.Node, change: ov.Node) -> None:
        readers = product.output(0).get_target_inputs()
        changed = op.scatter_nd_update(product, self._rows_in_column, change, "sum")
        for reader in readers:
            reader.replace_source_output(changed.output(0))

    def _stack(self, name: str) -> _Stack | None:
        """The products of the adapters that tune a matrix; None if none does."""
        tuning = [(owner, adapter[name]) for owner, adapter in enumerate(self._adapters) if name in adapter]
        if not tuning:
            return None

        owners: list[int] = []
        for owner, product in tuning:
            rank = len(product.down)
            owners += [owner] * rank
        return _Stack(
            down=np.concatenate([product.down for _, product in tuning]),
            up=np.concatenate([product.up for _, product in tuning], axis=1),
            owners=owners,
        )

    def _gates_of(self, owners: Sequence[int]) -> ov.Node:
        """The gate of each rank: (n x 1 x ranks)."""
        key = tuple(owners)
        if key not in self._gates_by_owners:
            self._gates_by_owners[key] = op.gather(self._gates, integers(*owners), integer(2))
        return self._gates_by_owners[key]


def _as_integers(values: Matrix) -> ov.Node:
    """Like the model's own matrices: float32 would take four times the memory, and be no faster."""
    integers, scale = quantise(values)
    return op.convert(op.multiply(op.convert(op.constant(integers), "f16"), op.constant(scale)), "f32")
