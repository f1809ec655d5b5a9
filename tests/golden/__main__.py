"""Write the golden traces anew."""

from crag.mock_api import serve
from tests.golden import FOLDER, PRESETS, lines, traces

with serve() as address:
    for preset in PRESETS:
        (FOLDER / f"{preset}.jsonl").write_text("".join(lines(traces(preset, address))), encoding="utf-8")
