"""A linear probe: the log-odds that a model's answer will be right, read from its hidden state before the first word.

Kadavath et al. 2022 (Language Models (Mostly) Know What They Know, section 5) train such a head and call it P(IK); a
linear one on a middle layer is the probe of Alain and Bengio 2016. The model computes the state anyway.
"""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.llm.local_engine import REPOSITORY
from agents.settings import SettingsError

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)
PROBES = REPOSITORY / "models" / "probes"


@dataclass(frozen=True, slots=True)
class Probe:
    """`weights` (one per hidden dimension) and `bias`, for the residual stream after `layer` (1: the first layer)."""

    model: str
    layer: int
    weights: NDArray[np.float32]
    bias: float

    def log_odds(self, states: "torch.Tensor") -> list[float]:
        """For each row of `states` (rows x hidden size) log(P / (1 - P)) that the answer will be right."""
        found: list[float] = (states.float().cpu().numpy() @ self.weights + self.bias).tolist()
        return found

    @classmethod
    def load(cls, name: str) -> "Probe":
        """Read a file of `models/probes/` by its name, or any file by its path.

        Raises:
            SettingsError: the file is missing or has another format.
        """
        path = Path(name).expanduser() if name.endswith(".json") else PROBES / f"{name}.json"
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            weights = np.array([float(weight) for weight in data["weights"]], dtype=np.float32)
            return cls(str(data["model"]), int(data["layer"]), weights, float(data["bias"]))
        except OSError as error:
            raise SettingsError(
                f'key "language_model.probe": {path} cannot be read ({error.strerror}); python -m '
                'training.calibrate.probe makes one, "none" runs without'
            ) from None
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise SettingsError(f'key "language_model.probe": {path} is no probe: {error!r}') from None


def probe_of(name: str | None, model: str, config: dict[str, Any]) -> Probe | None:
    """The probe of that name if it was fitted to this model; else None, with a warning: P(correct) does without it."""
    if name is None:
        return None
    probe = Probe.load(name)
    fits = len(probe.weights) == config["hidden_size"] and 1 <= probe.layer <= config["num_hidden_layers"]
    if fits and probe.model == model:
        return probe
    log.warning(
        "the probe %s was fitted to %s, not to the model %s: P(correct) does without it", name, probe.model, model
    )
    return None
