"""Turns examples into token ids; loads a base model with a tunable adapter, and saves the tuned adapter."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import save
from transformers import AutoConfig, AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel

from crag.core.files import DatasetError, write_whole
from crag.core.log_lines import one_line
from crag.core.text import encodable
from crag.engines.llm import EngineUnavailableError
from crag.engines.llm.attention import attention_for
from crag.engines.llm.chat_template import read_config
from crag.engines.llm.tokenizer import ChatTokenizer, PromptError, quiet_transformers
from crag.settings import SettingsError
from crag.training.files import TrainingExample
from crag.training.lora.cpu import computing_type
from crag.training.lora.memory import shape_of, why_too_large
from crag.training.lora.settings import LoraTraining
from crag.weights.adapter_files import ADAPTER_WEIGHTS
from crag.weights.manifest import WeightsMissingError

ADAPTER = "default"
_JSON_FILES = ("config.json", "generation_config.json", "tokenizer_config.json", "tokenizer.json")
"""Of a base model; all but the first and the last may be missing."""
IGNORED = -100
"""Label of a token that is read but not learned."""


class TokenExample(NamedTuple):
    """Token ids of a prompt and of its completion, which ends with the model's end token."""

    prompt: list[int]
    completion: list[int]

    @property
    def length(self) -> int:
        """Tokens of both."""
        return len(self.prompt) + len(self.completion)


class TokenExamples(NamedTuple):
    """The kept examples, and the numbers of kept and of too long ones by source."""

    kept: list[TokenExample]
    sources: Counter[str]
    too_long: Counter[str]


def tokenize(folder: Path, examples: Sequence[TrainingExample], max_tokens: int) -> TokenExamples:
    """Prompts as the engines tokenize them, completions with the end token; together at most `max_tokens`.

    Raises DatasetError: a prompt does not fit the model of this folder, or every example is too long.
    """
    tokenizer = ChatTokenizer(folder)
    end = _end_token(folder, tokenizer)
    vocabulary_size = read_config(folder, "config.json").get("vocab_size")
    # A completion that spells out the end token must not teach the model to stop there.
    # A tokenizer of its own, since the setting would also change how prompts are read
    backend = ChatTokenizer(folder).backend
    backend.encode_special_tokens = True

    tokenized = TokenExamples([], Counter(), Counter())
    for example in examples:
        try:
            prompt = tokenizer.prompt_tokens(example.request)
        except PromptError as error:
            raise DatasetError(f"{example.place}: {error}") from error

        # Without special tokens: the prompt has the one that begins a text
        completion = backend.encode(encodable(example.completion), add_special_tokens=False).ids
        tokens = TokenExample(prompt, [*completion, end])
        _check_vocabulary(tokens, vocabulary_size, example.place, folder)
        if tokens.length > max_tokens:
            tokenized.too_long[example.source] += 1
        else:
            tokenized.sources[example.source] += 1
            tokenized.kept.append(tokens)

    if not tokenized.kept:
        raise DatasetError(f"nothing to learn from: none of {len(examples)} examples has at most {max_tokens} tokens")
    return tokenized


def _check_vocabulary(tokens: TokenExample, vocabulary_size: int | None, place: str, folder: Path) -> None:
    """Raise DatasetError if the model has no embedding of a token, as with the tokenizer of another model."""
    highest = max(tokens.prompt + tokens.completion)
    if vocabulary_size is not None and highest >= vocabulary_size:
        raise DatasetError(
            f"{place}: the tokenizer or the end token of {folder} gives token {highest}, and the model's vocabulary "
            f"ends before {vocabulary_size}: take both from one model"
        )


def _end_token(folder: Path, tokenizer: ChatTokenizer) -> int:
    """The first end token of generation_config.json, at which engines stop; without one, the tokenizer's."""
    end_tokens: object = read_config(folder, "generation_config.json").get("eos_token_id")
    # "eos_token_id" is one number or a list of them
    if isinstance(end_tokens, list) and end_tokens:
        end_tokens = end_tokens[0]

    if isinstance(end_tokens, int):
        return end_tokens
    if tokenizer.end_token is None:
        raise DatasetError(f"the model in {folder} has no end token: it could not learn where an answer ends")
    return int(tokenizer.end_token)


def load_tunable(settings: LoraTraining, base: Path, device: str) -> PeftModel:
    """The base model with a new adapter, which changes nothing yet; SettingsError: it lacks the adapter's targets."""
    lora = LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.adapter.rank,
        lora_alpha=settings.adapter.alpha,
        lora_dropout=settings.adapter.dropout,
        target_modules=list(settings.adapter.targets),
        bias="none",
    )

    with quiet_transformers():
        model = _load_base(settings, base, device)
        # After loading and right before the random weights of the adapter
        torch.manual_seed(settings.seed)
        try:
            return get_peft_model(model, lora)
        except ValueError as error:
            raise SettingsError(f'key "adapter": {one_line(error, 300)}') from error


def continue_adapter(settings: LoraTraining, base: Path, start: Path, device: str) -> PeftModel:
    """The base model with the adapter in the folder `start`, to be tuned further in the adapter's own shape."""
    with quiet_transformers():
        model = _load_base(settings, base, device)
        return PeftModel.from_pretrained(model, str(start), adapter_name=ADAPTER, is_trainable=True)


def _load_base(settings: LoraTraining, base: Path, device: str) -> PreTrainedModel:
    number_type = computing_type(settings, device)
    quantisation = None
    if settings.quantise == "4bit":
        quantisation = BitsAndBytesConfig(
            load_in_4bit=True,
            # As in QLoRA (Dettmers et al. 2023)
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=number_type,
        )

    try:
        return AutoModelForCausalLM.from_pretrained(
            str(base),
            dtype=number_type,
            local_files_only=True,
            use_safetensors=True,
            device_map={"": device},
            attn_implementation=attention_for(device),
            quantization_config=quantisation,
        )
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        raise SettingsError(
            f'key "base": the weights in {base} cannot be loaded, or do not fit its config.json: {one_line(error, 300)}'
        ) from None


def save_adapter(model: PeftModel, folder: Path, base: str) -> None:
    """Write the adapter as float16, with a config that names the base by its manifest name `base`."""
    folder.mkdir(parents=True, exist_ok=True)

    tensors: dict[str, torch.Tensor] = {}
    # Sorted: the same weights give the same bytes
    for name, value in sorted(get_peft_model_state_dict(model, adapter_name=ADAPTER).items()):
        tensors[name] = value.detach().to("cpu", torch.float16).contiguous()
    write_whole(folder / ADAPTER_WEIGHTS, save(tensors, metadata={"format": "pt"}))

    # PEFT has the base's folder on this machine, which means nothing elsewhere
    config = replace(model.peft_config[ADAPTER], base_model_name_or_path=base, inference_mode=True)
    # PEFT keeps a set, whose order changes from run to run
    config.target_modules = sorted(config.target_modules)
    config.save_pretrained(str(folder))


def check_tunable(settings: LoraTraining, base: Path, device: str) -> None:
    """Check before the long work that device, packages and base are those that the settings need.

    Raises EngineUnavailableError: there is no GPU, it is too small, or a package is missing; SettingsError: another
    kind of base.
    """
    _check_device(settings, device)
    _check_base(settings, base)
    check_targets(settings, base)

    shape = shape_of(base) if device == "cuda" else None
    if shape is not None:
        gib = torch.cuda.get_device_properties(0).total_memory / 2**30
        reason = why_too_large(settings, shape, gib)
        if reason:
            raise EngineUnavailableError(reason)


def _check_device(settings: LoraTraining, device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        advice = "install torch for CUDA (requirements/train-cuda.txt), or pass --device cpu"
        raise EngineUnavailableError(f"tuning uses a GPU, and torch finds none: {advice}")

    if settings.quantise == "4bit" and device != "cuda":
        raise EngineUnavailableError('quantise = "4bit" needs a GPU: pass --device cuda, or --set quantise=none')
    if settings.quantise == "4bit" and find_spec("bitsandbytes") is None:
        raise EngineUnavailableError(
            'quantise = "4bit" needs the package bitsandbytes: pip install -r requirements/train-cuda.txt, '
            "or --set quantise=none"
        )


def _check_base(settings: LoraTraining, base: Path) -> None:
    for name in _JSON_FILES:
        try:
            read_config(base, name)
        except ValueError as error:
            raise SettingsError(f'key "base": {base / name} is damaged: {one_line(error, 300)}') from None
    if not (base / "tokenizer.json").is_file():
        raise WeightsMissingError(f"{base / 'tokenizer.json'} is missing: take it from the model's repository")

    config = base / "config.json"
    model_type = read_config(base, config.name).get("model_type")
    # Tuning another family would fail late, or tune other layers than the settings mean
    if settings.architecture not in {None, model_type}:
        raise SettingsError(
            f'key "base": {settings.base} is a {model_type} ({config}), these settings are for a '
            f"{settings.architecture}: its layers have other names and shapes; pass a base of that kind, or another "
            f"--config ({', '.join(LoraTraining.names())})"
        )


def check_targets(settings: LoraTraining, base: Path) -> None:
    """Raise SettingsError if the base lacks a layer of the settings, or has one that cannot be tuned."""
    model = _build_without_weights(base)
    # trl refuses the output layer, and vLLM 0.19.1 an adapter of it; often it is the embeddings, too
    output_layer = model.get_output_embeddings()
    tunable: set[str] = set()
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and module is not output_layer:
            tunable.add(name.rpartition(".")[2])

    missing = [target for target in settings.adapter.targets if target not in tunable]
    if missing:
        raise SettingsError(
            f'key "adapter.targets": {settings.base} has no linear layer {", ".join(missing)} that can be tuned; '
            f"it has {', '.join(sorted(tunable))}"
        )


def _build_without_weights(base: Path) -> PreTrainedModel:
    """The model that config.json describes, in a second. Raises SettingsError: transformers knows no such model."""
    try:
        with torch.device("meta"), quiet_transformers():
            return AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(str(base), local_files_only=True))
    except (ValueError, TypeError, KeyError, OSError, RuntimeError, AssertionError) as error:
        raise SettingsError(
            f'key "base": transformers cannot build the model of {base / "config.json"}: {one_line(error, 300)}'
        ) from None
