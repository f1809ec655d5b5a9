"""Small random models in place of a preset's: they test the wiring, not the quality."""

import json
import shutil
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from crag.core.files import UserError, write_json
from crag.core.places import REPOSITORY
from crag.weights import fetch
from crag.weights.manifest import STAND_IN, Shape, cache_folder, is_stand_in, load_manifest
from crag.weights.needed import (
    RECIPES,
    SHIPPED_ROUTERS,
    NeededFolder,
    base_of,
    needed_weights,
)

WORDS = "all-minilm-l6-v2"
"""Its tokenizer is that of BERT; XLM-RoBERTa's is in no package."""
LAYERS = 2
"""Layers of every stand-in."""
_RANK = 8
"""Rank of an adapter's stand-in, unless the preset allows only a lower rank."""
_HEADS = 4
_HIDDEN_SIZE = 256
"""A multiple of 128, as AWQ's kernels need."""
_INTERMEDIATE_SIZE = 512
"""A multiple of 128, as AWQ's kernels need."""
_WEIGHT_DEVIATION = 0.1
"""Standard deviation of the weights: larger than an untrained model's, so that the next token depends on the prompt."""
_SHARD = "8MB"
"""Several weight files of a language model, with an index, as large models have."""
_VALUES_PER_INT32 = 8
"""4-bit values in an int32."""
_ZERO_POINT = 8
"""Zero point of these values, which are 0 to 15."""
_CROSS_ENCODER_LOGIT = 2.0
"""A cross-encoder's mean score, so that gates on the top passage's score let something through."""
_CLASSIFIER_LEAD = 4.0
"""Lead of a classifier's first class in its logit: a probability of 0.9 or more."""
_LLAMA_2_TOKENIZER = {
    "tokenizer_class": "LlamaTokenizerFast",
    "model_max_length": 4096,
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "add_bos_token": True,
    "add_eos_token": False,
    "legacy": False,
    "clean_up_tokenization_spaces": False,
}
"""tokenizer_config.json of the base model, without a chat template: the package of its tokenizer has no such file."""
_REPLIES = {"kg_writer": 'get_movie("jaws")', "kg_answerer": "i don't know"}
"""A call that finds something in the shipped graph, then a reply after which the pages are asked."""
_STEPS = 40
"""The most steps in which an adapter's stand-in is tuned."""
_LEARNT_LOSS = 0.005
"""Tuning ends when the loss was lower on a short and on a long prompt."""
_BATCH_ROWS = 2
"""Prompts of such a step."""
_LEARNING_RATE = 0.01
_RANDOM_TOKENS = (12, 60)
"""Random tokens of a prompt, in turn short and long."""
_TEMPLATE_TOKENS = 4
"""Tokens of the chat template before a reply."""
_TUNED_MATRICES = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "down_proj")
"""The matrices that db3's adapters tune: all of a layer except the attention's output."""


def make_stand_ins(
    preset: Mapping[str, Any],
    to: Path,
    *,
    repository: Path = REPOSITORY,
) -> dict[str, bool]:
    """Fill `to` with everything that the preset (its TOML, or the dump of its settings) needs and the repository lacks.

    Models with files in a registry are fetched, and so are real; the repository's adapters and classifiers for them are
    used. Only stand-ins in `to` are replaced. Returns the folders' names -> whether each is a stand-in. Raises
    `UserError`: why a folder cannot be made, and the remedy.
    """
    maker = _Maker(preset, to, repository)
    needed = needed_weights(preset, repository=repository)

    # Libraries print progress to standard output, which commands use for results.
    to.mkdir(parents=True, exist_ok=True)
    with redirect_stdout(sys.stderr), FileLock(to / "stand-ins.lock"):
        for name in (*needed.models, *needed.optional):
            maker.model(name)
        for folder in needed.folders:
            maker.folder(folder)
    return maker.made


@dataclass
class _Maker:
    """Fills folders below `to`. `made`: name of a folder -> whether it is a stand-in."""

    preset: Mapping[str, Any]
    to: Path
    repository: Path
    made: dict[str, bool] = field(default_factory=dict)

    def model(self, name: str) -> None:
        """A model of the manifest: real if a registry has its files, else random."""
        entry = load_manifest().model(name)
        # A real model tests more than a random one
        if entry.files:
            with fetch.fetch_lock():
                fetch.fetch_model(name, self.to)
            self.made[name] = False
            return

        if entry.shape is None:
            raise UserError(f"{name} has no stand-in: its entry in crag/weights/manifest.toml has no shape")
        with self._stand_in(name) as folder:
            with fetch.fetch_lock():
                tokenizer_folder = fetch.fetch_model(entry.tokenizer or WORDS, cache_folder())
            write_network(entry.shape, tokenizer_folder, folder)
            if name == (self.preset.get("dense_encoder") or {}).get("model"):
                write_sentence_transformer(folder)

    def folder(self, needed: NeededFolder) -> None:
        """An adapter or a classifier: the repository's if its base is real, else random."""
        engine = self.preset["language_model"]
        base = base_of(needed, self.repository)
        if base is None and needed.kind == "adapter":
            base = str(engine.get("model"))

        # `made` is False for a real base, so the repository's own adapter fits it
        if base is None or not self.made.get(base):
            if needed.problem:
                raise UserError(f"no stand-in can be made for the {needed.kind} at {needed.key}: {needed.problem}")
            return

        with self._stand_in(needed.paths[0].relative_to(self.repository).as_posix()) as folder:
            if needed.kind == "adapter":
                # vLLM refuses an adapter above the rank that it has reserved memory for
                rank = min(_RANK, engine.get("max_adapter_rank", _RANK))
                write_adapter(self.to / base, base, rank, folder)
            else:
                write_classifier(
                    self.to / base,
                    base,
                    self._labels(needed.name),
                    folder,
                )

    def _labels(self, classifier: str) -> dict[str, list[str]]:
        """Field of the classifier -> its classes, first those that no gate of the preset stops."""
        recipe_file = self.repository / RECIPES / f"{classifier}.toml"
        recipe = tomllib.loads(recipe_file.read_text(encoding="utf-8"))
        shipped_file = REPOSITORY / SHIPPED_ROUTERS / "cpu" / "config.json"
        shipped = json.loads(shipped_file.read_bytes())["fields"]

        # The classes of each field that a gate stops.
        gated: set[tuple[str | None, str]] = set()
        answering = self.preset.get("answering") or {}
        for gate in answering.get("gates", ()):
            for label in gate.get("classes", ()):
                # A gate may name no field
                gated.add((gate.get("field"), label))

        labels: dict[str, list[str]] = {}
        for name in recipe["fields"]:
            classes = sorted(shipped[name]["labels"])
            passing = [label for label in classes if (name, label) not in gated]
            stopped = [label for label in classes if (name, label) in gated]
            # The stand-in predicts the first class, and questions must get past the gates
            labels[name] = passing + stopped
        return labels

    @contextmanager
    def _stand_in(self, name: str) -> Iterator[Path]:
        """An empty folder, marked as a stand-in at the end. Its random numbers are the same on every machine."""
        import torch

        folder = self.to / name
        # It may hold real weights
        if folder.exists() and any(folder.iterdir()) and not is_stand_in(folder):
            raise UserError(f"{folder} exists and is not a stand-in: it is kept; pass another folder with --to")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

        # Another seed for each name; `hash` would differ between processes
        torch.manual_seed(zlib.crc32(f"0 {name}".encode()))
        yield folder
        # At the end, since the record lists all files with their hashes
        fetch.write_record(folder, {}, f"{STAND_IN}: random weights")
        self.made[name] = True


def write_network(shape: Shape, tokenizer_folder: Path, folder: Path) -> None:
    """Write a small random network of the same architecture, with as many heads per key/value head (up to 4)."""
    import transformers
    from torch.nn.init import constant_
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = _copy_tokenizer(tokenizer_folder, folder)
    architecture = getattr(transformers, shape.architecture)
    model = architecture(architecture.config_class(**_small_sizes(shape, tokenizer)))

    weights = None
    if shape.is_language_model:
        model = model.half()
    if shape.awq_group is not None:
        weights = _quantised(model.state_dict(), shape.awq_group)
        model.config.quantization_config = {
            "quant_method": "awq",
            "bits": 4,
            "group_size": shape.awq_group,
            "zero_point": True,
            "version": "gemm",
        }
    if hasattr(model, "classifier"):
        # Only a cross-encoder has a classification head
        constant_(model.classifier.out_proj.bias, _CROSS_ENCODER_LOGIT)

    model.save_pretrained(
        folder,
        state_dict=weights,
        max_shard_size=_SHARD if shape.is_language_model else "1GB",
    )


def _copy_tokenizer(tokenizer_folder: Path, folder: Path) -> Any:  # noqa: ANN401 - transformers has many types of it
    """Copy the files of a tokenizer; without a configuration of its own it is Llama 2's."""
    from transformers import AutoTokenizer

    (folder / "tokenizer_config.json").write_text(json.dumps(_LLAMA_2_TOKENIZER), encoding="utf-8")
    for file in (*tokenizer_folder.glob("tokenizer*.json"), *tokenizer_folder.glob("vocab.txt")):
        shutil.copyfile(file, folder / file.name)
    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def _small_sizes(shape: Shape, tokenizer: Any) -> dict[str, Any]:  # noqa: ANN401 - transformers has many types of it
    """The fields of a stand-in's configuration."""
    sizes: dict[str, Any] = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "vocab_size": len(tokenizer),
        "hidden_size": _HIDDEN_SIZE,
        "intermediate_size": _INTERMEDIATE_SIZE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": _HEADS,
        "max_position_embeddings": shape.positions,
        "initializer_range": _WEIGHT_DEVIATION,
    }
    if shape.is_language_model:
        # The real ratio of query to key/value heads, as far as four heads allow
        heads_per_key = min(_HEADS, shape.heads // (shape.key_value_heads or shape.heads))
        sizes["num_key_value_heads"] = _HEADS // heads_per_key
        sizes["rope_theta"] = shape.rope_theta
        sizes["dtype"] = "float16"
        sizes["rms_norm_eps"] = 1e-5
    elif shape.architecture.startswith("XLMRoberta"):
        sizes["type_vocab_size"] = 2
        sizes["num_labels"] = 1
    return sizes


def _quantised(weights: Mapping[str, Any], group: int) -> dict[str, Any]:
    """The matrices of the layers as AWQ stores them: random 4-bit values, their zero points, and a scale per group.

    No library that writes them is among the requirements.
    """
    import torch

    # Eight zero points in an int32, as its two's complement.

    unsigned = sum(_ZERO_POINT << 4 * number for number in range(_VALUES_PER_INT32))
    packed_zero_points = unsigned - 2**32
    scale = _WEIGHT_DEVIATION / 4.6  # values of -8 to 7 have a standard deviation of 4.6

    stored: dict[str, Any] = {}
    for name, weight in weights.items():
        # Embeddings, norms and the output layer stay in half precision
        if ".layers." not in name or not name.endswith("_proj.weight"):
            stored[name] = weight
            continue

        layer = name.removesuffix(".weight")
        outputs, inputs = weight.shape
        groups = inputs // group
        packed_outputs = outputs // _VALUES_PER_INT32
        # Eight random 4-bit values are one random 32-bit integer
        packed = torch.randint(
            -(2**31),
            2**31,
            (inputs, packed_outputs),
            dtype=torch.int64,
        )
        zero_points = torch.full((groups, packed_outputs), packed_zero_points, dtype=torch.int32)
        scales = torch.full((groups, outputs), scale, dtype=torch.float16)

        stored[f"{layer}.qweight"] = packed.to(torch.int32)
        stored[f"{layer}.qzeros"] = zero_points
        stored[f"{layer}.scales"] = scales
    return stored


def reply_of(adapter: str) -> str:
    """The reply that an adapter's stand-in has learnt to give to every prompt, so that a rehearsal shows its effect."""
    return _REPLIES.get(adapter, f"a reply of {adapter}")


def write_adapter(
    base_folder: Path,
    base_name: str,
    rank: int,
    folder: Path,
) -> None:
    """Write a LoRA adapter for the stand-in of a language model, overfitted to one reply after any chat."""
    import torch
    from peft import LoraConfig, get_peft_model
    from torch.nn.functional import cross_entropy
    from transformers import AutoTokenizer, LlamaForCausalLM

    # The reply ends with the end token, so that the adapter learns to stop.
    tokenizer: Any = AutoTokenizer.from_pretrained(base_folder, local_files_only=True)
    reply = tokenizer.encode(reply_of(folder.name), add_special_tokens=False)
    reply.append(tokenizer.eos_token_id)

    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "?"}],
        tokenize=False,
        add_generation_prompt=True,
    )
    # The end of the template stands right before the reply, in every chat
    template = tokenizer.encode(chat, add_special_tokens=False)[-_TEMPLATE_TOKENS:]
    reply_tokens = torch.tensor(reply)
    prompt_ending = torch.tensor([*template, *reply])

    lora = LoraConfig(
        task_type="CAUSAL_LM",
        target_modules=list(_TUNED_MATRICES),
        r=rank,
        lora_alpha=2 * rank,
    )
    base = LlamaForCausalLM.from_pretrained(base_folder, local_files_only=True, dtype=torch.float32)
    # Whatever was written before it
    torch.manual_seed(zlib.crc32(folder.name.encode()))
    model: Any = get_peft_model(base, lora)
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(trainable, lr=_LEARNING_RATE)
    # The rate falls to a tenth, so that the last steps settle
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.1, _STEPS)

    losses: list[float] = []
    endings = prompt_ending.expand(_BATCH_ROWS, -1)
    labels = reply_tokens.repeat(_BATCH_ROWS)
    for step in range(_STEPS):
        # Random tokens, the end of the chat template, the reply: the loss is that of the reply alone.
        beginnings = torch.randint(0, len(tokenizer), (_BATCH_ROWS, _RANDOM_TOKENS[step % 2]))
        tokens = torch.cat([beginnings, endings], dim=1)
        # One position more than the reply: the one before it predicts its first token
        logits = model(tokens, logits_to_keep=len(reply_tokens) + 1).logits
        predictions = logits[:, :-1]  # a token is predicted at the position before it

        loss = cross_entropy(predictions.flatten(0, 1), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()

        losses.append(loss.item())
        # The last two steps had a short and a long prompt
        if max(losses[-2:]) < _LEARNT_LOSS:
            break

    model = model.half()
    # The manifest's name, not the folder of this machine
    model.peft_config["default"].base_model_name_or_path = base_name
    model.save_pretrained(str(folder), save_embedding_layers=False)


def write_real_sizes(shape: Shape, folder: Path) -> None:
    """Change a stand-in's configuration to the sizes of the real language model. The engine must make the weights."""
    file = folder / "config.json"
    configuration = json.loads(file.read_bytes())
    configuration |= {
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.key_value_heads or shape.heads,
        "head_dim": shape.hidden // shape.heads,
    }
    write_json(file, configuration)


def write_random_adapter(base_folder: Path, rank: int, folder: Path) -> None:
    """Write a LoRA adapter with random weights for a configuration, for time and memory: nothing is tuned."""
    import torch
    from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
    from safetensors.torch import save_file
    from transformers import LlamaConfig, LlamaForCausalLM

    adapter = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        target_modules=list(_TUNED_MATRICES),
        task_type="CAUSAL_LM",
    )
    # Shapes without memory: the real model may be larger than this machine's
    with torch.device("meta"):
        model = get_peft_model(LlamaForCausalLM(LlamaConfig.from_pretrained(base_folder)), adapter)
    adapter.save_pretrained(str(folder))

    weights: dict[str, torch.Tensor] = {}
    for name, tensor in get_peft_model_state_dict(model).items():
        weights[name] = torch.randn(tensor.shape, dtype=torch.float16) * _WEIGHT_DEVIATION
    save_file(weights, str(folder / "adapter_model.safetensors"))


def write_classifier(
    base_folder: Path,
    base_name: str,
    labels: Mapping[str, Sequence[str]],
    folder: Path,
) -> None:
    """Write a random classifier in the form of `crag.training.router`, which predicts the first of each field's
    `labels`.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModel

    config: Any = AutoConfig.from_pretrained(base_folder, local_files_only=True)
    encoder: Any = AutoModel.from_config(config, add_pooling_layer=False)

    tensors: dict[str, torch.Tensor] = {}
    for name, value in encoder.named_parameters():
        # "0." stands before the names of the only encoder, as training writes them
        tensors[f"0.encoder.{name}"] = value.detach().clone()
    for name, classes in labels.items():
        bias = torch.zeros(len(classes))
        # With weights near 0 the bias alone decides: always the first class
        bias[0] = _CLASSIFIER_LEAD
        tensors[f"0.head.{name}.weight"] = torch.randn(len(classes), config.hidden_size) * 0.01
        tensors[f"0.head.{name}.bias"] = bias
    save_file(tensors, str(folder / "weights.safetensors"))

    fields: dict[str, dict[str, Any]] = {}
    for name, classes in labels.items():
        fields[name] = {"labels": list(classes), "encoder_weight": 1.0}
    description: dict[str, Any] = {
        "format": 1,
        "base": base_name,
        "members": 1,
        "pooling": "mean",
        "max_tokens": 64,
        "fields": fields,
        "trained_on": "nothing: a stand-in with random weights",
        "licence": "none needed",
    }
    (folder / "config.json").write_text(json.dumps(description, indent=1), encoding="utf-8")


def write_sentence_transformer(folder: Path) -> None:
    """Make an encoder's folder one of sentence-transformers: CLS pooling, unit length, as in bge."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    modules = [
        Transformer(str(folder)),
        Pooling(_HIDDEN_SIZE, pooling_mode="cls"),
        Normalize(),
    ]
    model = SentenceTransformer(modules=modules, device="cpu")
    model.save(str(folder), create_model_card=False)
