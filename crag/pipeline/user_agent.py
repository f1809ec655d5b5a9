"""The agent behind the evaluator's interface; `agents.user_config` and `models.user_config` pass it on."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from crag.core.contracts import I_DONT_KNOW, Trace
from crag.engines.gpus import require_gpus
from crag.pipeline.agent import CragAgent
from crag.settings import Settings, load_settings


class UserAgent:
    """The submission: `crag.pipeline.agent.CragAgent` behind the evaluator's interface.

    `search_pipeline` is accepted because later evaluators construct agents with it; CRAG passes search results with
    each batch, so it is not used. `preset` is a name, a TOML file or None for the active preset.

    Raises:
        crag.settings.SettingsError: the preset cannot be used.
        crag.weights.manifest.WeightsMissingError: weights are missing; names the file and the command that gets it.
        crag.engines.gpus.GpuError: a GPU is missing, in use or unusable.
        crag.engines.llm.EngineUnavailableError: the language model cannot start.
    """

    def __init__(self, search_pipeline: object = None, *, preset: str | Path | None = None) -> None:
        del search_pipeline
        self.settings: Settings = load_settings(preset)
        self.last_traces: list[Trace] = []
        self._agent = self.build_agent(self.settings)
        try:
            # Before anything is loaded, which takes minutes.
            require_gpus(self.settings)
            self._agent.warm_up()
        except BaseException:
            # Its worker processes have started, and nobody else can stop them.
            self._agent.close()
            raise

    def build_agent(self, settings: Settings) -> CragAgent:
        """The agent behind the interface; called once. A subclass adds its own parts here: docs/extending.md."""
        return CragAgent.from_settings(settings)

    def get_batch_size(self) -> int:
        """How many questions a batch has, from 1 to 16."""
        return self.settings.batch_size

    def batch_generate_answer(self, batch: Mapping[str, Sequence[object]]) -> list[str]:
        """One answer per question of the batch, in order; "i don't know" by default.

        `batch` maps ``interaction_id``, ``query``, ``search_results`` and ``query_time`` to lists of equal length.
        `last_traces` then explains each answer.
        Raises crag.core.queries.BatchFormatError: the batch as a whole is malformed.
        """
        answers, self.last_traces = self._agent.answer_batch(batch)
        return [answer.text or I_DONT_KNOW for answer in answers]

    def close(self) -> None:
        """Stop worker processes and release memory. The evaluator never calls it; tests and notebooks do."""
        self._agent.close()
