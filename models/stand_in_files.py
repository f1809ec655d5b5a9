"""Writes the files of a stand-in: tokenizers, and random weights in the formats of the hub and of our training."""

import json
import shutil
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from models.manifest import Shape

LAYERS = 2
_WIDTH, _HEADS, _INTERMEDIATE = 256, 4, 512
"""Multiples of 128, as AWQ's kernels need."""
_SPREAD = 0.1
"""Standard deviation of the weights: larger than an untrained model's, so that the next token depends on the prompt."""
_PARTS = 4
"""Weight files of a language model, with an index, as large models have."""
_PACKED = 8
"""4-bit values in an int32."""
_MIDDLE = 8
"""Zero point of the 4-bit values, which are 0 to 15."""
_CROSS_ENCODER_LOGIT = 2.0
"""A cross-encoder's mean score, so that gates on the top passage's score let something through."""
_CLASSIFIER_LEAD = 4.0
"""Lead of a classifier's first class in its logit: a probability of 0.9 or more."""
_ADAPTED = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "down_proj")
"""The matrices that db3's adapters tune: all of a layer except the attention's output."""
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
_LLAMA_2 = {
    "tokenizer_class": "LlamaTokenizerFast",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "add_bos_token": True,
    "add_eos_token": False,
    "legacy": False,
    "clean_up_tokenization_spaces": False,
    "model_max_length": 4096,
}
"""tokenizer_config.json of the base model, which has no chat template."""
_XLM_SPECIAL = {
    "bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>",
    "sep_token": "</s>", "cls_token": "<s>",
}  # fmt: skip
_LONGEST_PIECE = 16


def seed_of(name: str) -> int:
    """A seed for each name, the same on every machine."""
    return zlib.crc32(f"0 {name}".encode())


def small(shape: Shape, vocabulary: int) -> Shape:
    """The stand-in's shape: few layers, narrow, with the model's number of heads per key/value head (up to 4)."""
    shared = min(_HEADS, shape.heads // (shape.key_value_heads or shape.heads))
    sizes = {"layers": LAYERS, "hidden": _WIDTH, "intermediate": _INTERMEDIATE, "heads": _HEADS}
    return shape.model_copy(update={**sizes, "key_value_heads": _HEADS // shared, "vocabulary": vocabulary})


def write_json(path: Path, value: object) -> None:
    """Write an indented JSON file."""
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def copy_tokenizer(source: Path, shape: Shape, folder: Path) -> None:
    """Put the tokenizer of a fetched model into the stand-in's folder."""
    for name in _TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    if shape.is_language_model and not (folder / "tokenizer_config.json").is_file():
        write_json(folder / "tokenizer_config.json", _LLAMA_2)


def write_small_xlm_tokenizer(words: Path, folder: Path) -> None:
    """Write a Unigram tokenizer in XLM-RoBERTa's form.

    Args:
        words: `vocab.txt` of BERT: one piece per line, most frequent first; parts of words begin with ``##``.
        folder: Gets `tokenizer.json` and `tokenizer_config.json`.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    special = list(dict.fromkeys(_XLM_SPECIAL.values()))
    lines = words.read_text(encoding="utf-8").splitlines()
    words_and_parts = (line for line in lines if not line.startswith("[") and len(line) <= _LONGEST_PIECE)
    pieces = dict.fromkeys([*special, *(line[2:] if line.startswith("##") else f"▁{line}" for line in words_and_parts)])
    pieces |= dict.fromkeys(("▁", *map(chr, range(33, 127)), *(f"▁{chr(code)}" for code in range(65, 91))))
    vocabulary = [(piece, 0.0 if piece in special else -5.0 - place / 5000) for place, piece in enumerate(pieces)]
    tokenizer: Any = Tokenizer(models.Unigram(vocabulary, unk_id=special.index("<unk>"), byte_fallback=False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(mark, special.index(mark)) for mark in ("<s>", "</s>")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **_XLM_SPECIAL}
    write_json(folder / "tokenizer_config.json", config)


def special_tokens(folder: Path) -> tuple[int, dict[str, int]]:
    """The size of the folder's tokenizer, and the numbers of its special tokens."""
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    numbers = {role: tokenizer.token_to_id(config.get(f"{role}_token") or "") for role in ("bos", "eos", "pad")}
    known = {role: number for role, number in numbers.items() if number is not None}
    return tokenizer.get_vocab_size(with_added_tokens=True), known


def write_network(shape: Shape, tokens: dict[str, int], folder: Path, seed: int) -> None:
    """Write `config.json` and the weights of a random network.

    Args:
        shape: The stand-in's, not the model's.
        tokens: Numbers of the special tokens ``bos``, ``eos`` and ``pad``, if the model has them.
        folder: Gets the files.
        seed: Random seed.
    """
    import torch
    import transformers
    from transformers.utils import logging

    torch.manual_seed(seed)
    logging.disable_progress_bar()
    common: dict[str, Any] = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.intermediate,
        "max_position_embeddings": shape.positions,
        "initializer_range": _SPREAD,
        "architectures": [shape.architecture],
        **{f"{name}_token_id": number for name, number in tokens.items()},
    }
    if shape.is_language_model:
        _write_llama(shape, common, folder)
    elif shape.architecture.startswith("XLMRoberta"):
        config = transformers.XLMRobertaConfig(**common, type_vocab_size=1, num_labels=1)
        model: Any = transformers.XLMRobertaForSequenceClassification(config)
        with torch.no_grad():
            model.classifier.out_proj.bias.fill_(_CROSS_ENCODER_LOGIT)
        model.save_pretrained(str(folder))
    else:
        getattr(transformers, shape.architecture)(transformers.BertConfig(**common)).save_pretrained(str(folder))


def _write_llama(shape: Shape, common: dict[str, Any], folder: Path) -> None:
    import torch
    import transformers
    from huggingface_hub import save_torch_state_dict

    config = transformers.LlamaConfig(
        **{**common, "pad_token_id": None},
        num_key_value_heads=shape.key_value_heads,
        rms_norm_eps=1e-5,
        rope_theta=shape.rope_theta,
        tie_word_embeddings=False,
        dtype="float16",
    )
    model = transformers.LlamaForCausalLM(config)
    weights = {name: tensor.to(torch.float16) for name, tensor in model.state_dict().items()}
    if shape.awq_group is not None:
        weights = _quantised(weights, shape.awq_group)
        awq = {"quant_method": "awq", "bits": 4, "group_size": shape.awq_group, "zero_point": True, "version": "gemm"}
        config.quantization_config = awq
    config.save_pretrained(str(folder))
    model.generation_config.save_pretrained(str(folder))
    size = sum(tensor.numel() * tensor.element_size() for tensor in weights.values())
    save_torch_state_dict(weights, str(folder), max_shard_size=size // _PARTS)


def _quantised(weights: dict[str, Any], group: int) -> dict[str, Any]:
    """The matrices of the layers as AWQ stores them: random 4-bit values, their zero points, and a scale per group."""
    import torch

    stored: dict[str, Any] = {}
    middle = sum(_MIDDLE << 4 * place for place in range(_PACKED)) - 2**32
    for name, weight in weights.items():
        if ".layers." not in name or not name.endswith("_proj.weight"):
            stored[name] = weight
            continue
        outputs, inputs = weight.shape
        layer = name.removesuffix(".weight")
        packed = torch.randint(-(2**31), 2**31, (inputs, outputs // _PACKED), dtype=torch.int64)
        stored[f"{layer}.qweight"] = packed.to(torch.int32)
        stored[f"{layer}.qzeros"] = torch.full((inputs // group, outputs // _PACKED), middle, dtype=torch.int32)
        # Values of -8 to 7 have a standard deviation of 4.6.
        stored[f"{layer}.scales"] = torch.full((inputs // group, outputs), _SPREAD / 4.6, dtype=torch.float16)
    return stored


def write_adapter(base_folder: Path, base_name: str, rank: int, folder: Path, seed: int) -> None:
    """Write a random LoRA adapter for the stand-in of a language model."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig.from_pretrained(str(base_folder))
    config.quantization_config = None
    lora = LoraConfig(
        task_type="CAUSAL_LM", r=rank, lora_alpha=2 * rank, target_modules=list(_ADAPTED), init_lora_weights=False
    )
    model = get_peft_model(LlamaForCausalLM(config), lora).half()
    model.peft_config["default"].base_model_name_or_path = base_name
    model.save_pretrained(str(folder), save_embedding_layers=False)


def write_classifier(
    base_name: str, base_folder: Path, labels: Mapping[str, Sequence[str]], folder: Path, seed: int
) -> None:
    """Write a random classifier in the form of `training.router`: configuration, encoder, and a head per field.

    Args:
        base_name: The stand-in encoder's name in the manifest.
        base_folder: The stand-in encoder's folder.
        labels: Field -> its classes; the classifier always predicts the first one.
        folder: Gets `config.json` and `weights.safetensors`.
        seed: Random seed.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(seed)
    config: Any = AutoConfig.from_pretrained(base_folder, local_files_only=True)
    encoder: Any = AutoModel.from_config(config, add_pooling_layer=False)
    tensors = {f"0.encoder.{name}": value.detach().clone() for name, value in encoder.named_parameters()}
    for field, classes in labels.items():
        bias = torch.zeros(len(classes))
        bias[0] = _CLASSIFIER_LEAD
        tensors[f"0.head.{field}.weight"] = torch.randn(len(classes), config.hidden_size) * 0.01
        tensors[f"0.head.{field}.bias"] = bias
    save_file(tensors, str(folder / "weights.safetensors"))
    description = {
        "format": 1,
        "base": base_name,
        "members": 1,
        "pooling": "cls",
        "max_tokens": 64,
        "fields": {field: {"labels": list(classes), "encoder_weight": 1.0} for field, classes in labels.items()},
        "trained_on": "nothing: a stand-in with random weights",
        "licence": "none needed",
    }
    write_json(folder / "config.json", description)


def write_sentence_transformer(shape: Shape, folder: Path) -> None:
    """Add sentence-transformers' files to an encoder's folder: CLS pooling, unit length, as in bge."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(kinds.items())
    ]
    pooling = {"word_embedding_dimension": shape.hidden, "pooling_mode_cls_token": True}
    pooling |= {"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False}
    (folder / "1_Pooling").mkdir()
    write_json(folder / "modules.json", modules)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": shape.positions, "do_lower_case": True})
    write_json(folder / "1_Pooling/config.json", pooling)
