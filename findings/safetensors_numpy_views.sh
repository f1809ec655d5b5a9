#!/usr/bin/env bash
# safetensors 0.8.0: saving a transposed or cut NumPy array writes other numbers under its shape, without a word.
#
# Guessed before the first run: an array is saved as it reads, whatever its place in memory, as 0.7.0 does; parts of a
# file would be where it surprises.
# Seen: save and save_file of safetensors.numpy take the memory from the array's first number on. A 3 x 4 matrix that is
# transposed comes back with the numbers of each row in their old order, matrix[:, :2] and matrix[::2] with numbers that
# were cut away, an array in Fortran's order mixed up. The shape is right each time, and nothing is raised. 0.7.0 saves
# all four rightly. matrix.T.astype(float16) is a copy, and is wrong too, since astype keeps the order in memory;
# matrix.T.copy() is right. The help of save asks for "contiguous and dense" tensors; nothing checks it.
# What it means: who turns weights around, as for an export or a merge, ships a model that loads and talks nonsense. An
# update without a change of one's own code is enough. numpy.ascontiguousarray before saving mends it; this project
# calls it wherever it saves arrays.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/views.py" <<'PYTHON'
import sys

import numpy as np
from safetensors.numpy import load, load_file, save, save_file

matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
arrays = {
    "transposed": matrix.T,
    "columns": matrix[:, :2],
    "every other row": matrix[::2],
    "Fortran's order": np.asfortranarray(matrix),
    "transposed, as float16": matrix.T.astype(np.float16),
    "transposed, copied": matrix.T.copy(),
    "transposed, made contiguous": np.ascontiguousarray(matrix.T),
}
file = f"{sys.argv[1]}/saved.safetensors"
right = []
for name, array in arrays.items():
    saved = load(save({"weight": array}))["weight"]
    save_file({"weight": array}, file)
    assert saved.shape == array.shape and np.array_equal(saved, load_file(file)["weight"]), name
    if np.array_equal(saved, array):
        right.append(name)

if sys.argv[2] == "0.7.0":
    assert right == list(arrays), right
else:
    assert right == ["transposed, copied", "transposed, made contiguous"], right
    assert load(save({"weight": matrix.T}))["weight"][0].tolist() == [0, 1, 2], "the first row is 0, 4, 8"
    assert load(save({"weight": matrix[:, :2]}))["weight"].tolist() == [[0, 1], [2, 3], [4, 5]]
PYTHON
for version in 0.7.0 0.8.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "safetensors==$version" "numpy==2.4.6"
    "$folder/$version/bin/python" "$folder/views.py" "$folder" "$version"
done
echo "as described: 0.8.0 saves other numbers than a transposed or cut array holds, 0.7.0 does not"
