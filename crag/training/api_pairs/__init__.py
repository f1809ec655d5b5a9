"""Questions with their calls (`pairs`), the names in the calls (`entities`), and the graph they are asked of (`graph`).

`crag train api-pairs` writes the pairs; `label` makes them of questions without calls.
"""
