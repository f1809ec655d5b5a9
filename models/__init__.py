"""Model weights: the list of models (`manifest`) and their download (`fetch`).

`user_config` is the name under which the 2024 evaluator looks for the agent.
"""

import sys

sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type] # so `import openvino` reports to nobody
