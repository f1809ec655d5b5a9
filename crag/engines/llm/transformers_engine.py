"""Hugging Face transformers in this process, with PEFT adapters: db3's final engine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, Cache, PreTrainedModel

from crag.core.log_lines import one_line
from crag.engines.llm.attention import attention_for
from crag.engines.llm.base import EngineUnavailableError, LanguageModelDiedError
from crag.engines.llm.decoding import PREFILL_TOKENS_ON_CPU, Integers, Logits, StepModel
from crag.engines.llm.local_engine import adapter_folder, model_folder
from crag.engines.llm.stepwise_engine import StepwiseEngine
from crag.engines.llm.tokenizer import quiet_transformers
from crag.settings import TransformersEngine
from crag.weights.manifest import WeightsMissingError

_PREFILL_TOKENS_ON_GPU = 8192


class TransformersLanguageModel(StepwiseEngine[TransformersEngine]):
    """`StepwiseEngine` on a CPU or on GPUs, in the precision of the settings."""

    def check_weights(self) -> None:
        """See `LocalEngine.check_weights`."""
        super().check_weights()
        folder = model_folder(self._settings.model)
        if not any(folder.glob("*.safetensors")):
            raise WeightsMissingError(
                f"{folder} has no weights for this engine: crag models fetch {self._settings.model} --float16"
            )

    def _load(self) -> "TransformersModel":
        model = TransformersModel(self._settings)
        model.rehearse()
        return model


class TransformersModel(StepModel):
    """A causal language model of transformers."""

    def __init__(self, settings: TransformersEngine) -> None:
        self._names_in_peft = {name: _name_in_peft(name, settings) for name in settings.adapters}
        with quiet_transformers():
            self._model: Any = _with_adapters(_load_base(settings), settings)
        self._model.eval()
        self._device: torch.device = self._model.get_input_embeddings().weight.device
        self.prefill_tokens = PREFILL_TOKENS_ON_CPU if self._device.type == "cpu" else _PREFILL_TOKENS_ON_GPU

    @contextmanager
    def adapters(self, names: Sequence[str | None]) -> Iterator[None]:
        """See `StepModel.adapters`; here a batch has one."""
        (name,) = set(names)
        if name is not None:
            self._model.set_adapter(self._names_in_peft[name])
            yield
        elif self._names_in_peft:
            # Otherwise the adapter of the call before would stay active.
            with self._model.disable_adapter():
                yield
        else:
            yield

    def step(
        self,
        tokens: Integers,
        mask: Integers,
        positions: Integers,
        cache: Cache | None,
        logits_to_keep: int = 1,
    ) -> tuple[Logits, Cache]:
        """See `StepModel.step`. Raises LanguageModelDiedError: the GPU fails."""
        try:
            with torch.inference_mode():
                output = self._model(
                    input_ids=torch.from_numpy(tokens).to(self._device),
                    attention_mask=torch.from_numpy(mask).to(self._device),
                    position_ids=torch.from_numpy(positions).to(self._device),
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=logits_to_keep,
                )

                # Some models ignore `logits_to_keep` and return the logits after all tokens.
                logits = output.logits[:, -logits_to_keep:].float().cpu().numpy()

        except torch.cuda.OutOfMemoryError:
            # The GPU is fine, only the batch is too large: its requests are then tried one by one.
            raise
        except torch.AcceleratorError as error:
            raise LanguageModelDiedError(f"the GPU fails: {error}") from error
        return np.asarray(logits), output.past_key_values

    def select_rows(self, cache: Cache, rows: Sequence[int]) -> Cache:
        """See `StepModel.select_rows`."""
        # On the CPU, because layers may be on several GPUs
        cache.batch_select_indices(torch.tensor(rows))
        return cache

    def release(self) -> None:
        """See `StepModel.release`."""
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _load_base(settings: TransformersEngine) -> PreTrainedModel:
    """The base model on the device of the settings. Raises EngineUnavailableError: there is no GPU."""
    device = settings.device
    if device != "auto" and torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise EngineUnavailableError(f"the settings ask for device {device!r}, but torch finds no CUDA GPU here")

    spread = device == "auto" and torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(
        str(model_folder(settings.model)),
        dtype=getattr(torch, settings.dtype),
        device_map="auto" if spread else None,
        attn_implementation=attention_for(device),
        local_files_only=True,
        use_safetensors=True,
    )
    return model if device == "auto" else model.to(device)


def _with_adapters(base: PreTrainedModel, settings: TransformersEngine) -> PreTrainedModel:
    """The base model with all adapters loaded and none applied yet."""
    if not settings.adapters:
        return base

    from peft import PeftModel

    model: PeftModel | None = None
    for name, location in settings.adapters.items():
        folder = str(adapter_folder(location))
        options = {"adapter_name": _name_in_peft(name, settings), "autocast_adapter_dtype": False}
        # Without the second option float16 adapters run in float32, which is 8 times slower on a T4.
        try:
            if model is None:
                model = PeftModel.from_pretrained(base, folder, **options)
            else:
                model.load_adapter(folder, **options)
        except (ValueError, KeyError, RuntimeError, AttributeError, ImportError) as error:
            cause = one_line(error, 300)
            raise WeightsMissingError(f"the adapter {name} cannot be used: PEFT refuses {folder}: {cause}") from None
    return model


def _name_in_peft(adapter: str, settings: TransformersEngine) -> str:
    """The adapter's name in torch's modules, which have no dots and none of the names of their methods, as `items`."""
    return f"adapter_{sorted(settings.adapters).index(adapter)}"
