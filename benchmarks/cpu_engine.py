"""Compare language-model engines on a CPU: the same prompts, each engine in a fresh process, in turns.

    python -m benchmarks.cpu_engine [--engines openvino transformers] [--model NAME] [--rounds N] [--adapter FOLDER]
    python -m benchmarks.cpu_engine --encoders

The prompts are pages of the shipped sample, cut to about 650 tokens, with their questions; each answer has 32 tokens
or ends earlier. `--encoders` compares ONNX Runtime with OpenVINO on the two int8 encoders of the cpu preset instead.
Other work on the machine slows all rows alike: compare the ratios, and repeat.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from agents.common.deadline import Deadline
from agents.llm import ENGINES, GenerationRequest, Message, load_language_model
from agents.settings import LanguageModelSettings, OpenvinoEngine, TransformersEngine
from benchmarks.common import Row, exit_code, table
from evaluation.cli import DEFAULT_DATASET
from models.manifest import locate
from training.command import parser_of

PROMPT_CHARACTERS = 2600
"""About 650 tokens."""
ANSWER_TOKENS = 32
TOGETHER = 4
LONG = 3600.0
ENCODERS = {"ms-marco-minilm-l-12-v2": 160, "bge-small-en-v1.5": 128}
"""Model -> most tokens in the cpu preset."""
COLUMNS = {
    "first": "seconds to first answer",
    "read": "reads tokens/s",
    "write": "writes tokens/s",
    "each": f"{TOGETHER} one by one, s",
    "together": f"{TOGETHER} in one call, s",
    "memory": "peak memory, GB",
}


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = parser_of("benchmarks.cpu_engine", __doc__)
    parser.add_argument("--engines", nargs="+", default=["openvino", "transformers"], choices=sorted(ENGINES))
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct", help="name in the manifest, or a folder")
    parser.add_argument("--adapter", help="folder of a LoRA adapter to answer with")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes for each engine, in turns; default: 3")
    parser.add_argument("--encoders", action="store_true", help="compare runtimes of the encoders instead")
    parser.add_argument("--one", choices=sorted(ENGINES), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        return exit_code(lambda: print(json.dumps(measured(options.one, options.model, options.adapter))))
    return exit_code(show_encoders if options.encoders else lambda: show_engines(options))


def engine_settings(engine: str, model: str, adapter: str | None) -> LanguageModelSettings:
    """The engine as the cpu preset would set it."""
    adapters = {"adapter": adapter} if adapter else {}
    if engine == "openvino":
        return OpenvinoEngine(engine="openvino", model=model, adapters=adapters)
    return TransformersEngine(engine="transformers", model=model, dtype="float32", device="cpu", adapters=adapters)


def prompts(adapter: str | None) -> list[GenerationRequest]:
    """Questions of the shipped sample, each after the raw text of its first page."""
    found = []
    for line in Path(DEFAULT_DATASET).read_text(encoding="utf-8").splitlines()[: TOGETHER + 1]:
        row = json.loads(line)
        page = Path(DEFAULT_DATASET).parent / row["search_results"][0]["page_result_file"]
        text = page.read_text(encoding="utf-8")[:PROMPT_CHARACTERS]
        message = Message("user", f"{text}\n\nQuestion: {row['query']}\nSay all that you know about it.")
        found.append(
            GenerationRequest(messages=(message,), max_tokens=ANSWER_TOKENS, adapter="adapter" if adapter else None)
        )
    return found


def measured(engine: str, model: str, adapter: str | None) -> Row:
    """Measure one engine in this process."""
    started = time.perf_counter()
    language_model = load_language_model(engine_settings(engine, model, adapter))
    language_model.warm_up()
    first, *rest = prompts(adapter)
    language_model.generate([first], Deadline(LONG))
    row: Row = {"first": time.perf_counter() - started}
    short = [GenerationRequest(one.messages, None, one.adapter, max_tokens=1) for one in rest]
    seconds = {}
    for name, requests in (("read", short), ("each", rest)):
        started = time.perf_counter()
        answers = [language_model.generate([request], Deadline(LONG))[0] for request in requests]
        seconds[name] = time.perf_counter() - started
        row[name] = sum(answer.prompt_tokens for answer in answers) / seconds[name]
    written = sum(answer.completion_tokens - 1 for answer in answers)
    row |= {"write": written / (seconds["each"] - seconds["read"]), "each": seconds["each"]}
    started = time.perf_counter()
    language_model.generate(rest, Deadline(LONG))
    row |= {"together": time.perf_counter() - started, "memory": peak_gigabytes()}
    language_model.close()
    return row


def peak_gigabytes() -> float:
    """The peak memory of this process."""
    import resource

    unit = 1e9 if sys.platform == "darwin" else 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def show_engines(options: argparse.Namespace) -> None:
    """Run all engines in turns; print medians, and their ratios to the last engine."""
    found: dict[str, list[Row]] = {engine: [] for engine in options.engines}
    command = [sys.executable, "-m", "benchmarks.cpu_engine", "--model", options.model]
    command += ["--adapter", options.adapter] if options.adapter else []
    for _ in range(options.rounds):
        for engine, rows in found.items():
            done = subprocess.run([*command, "--one", engine], stdout=subprocess.PIPE, text=True, check=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
    middle = {engine: {key: median(row[key] for row in rows) for key in COLUMNS} for engine, rows in found.items()}
    shown = [[engine, *(f"{row[key]:.1f}" for key in COLUMNS)] for engine, row in middle.items()]
    rival = options.engines[-1]
    for engine in options.engines[:-1]:
        ratios = [middle[engine][key] / middle[rival][key] for key in COLUMNS]
        shown.append([f"{engine} / {rival}", *(f"{ratio:.2f}" for ratio in ratios)])
    print(table(["engine", *COLUMNS.values()], shown))


def show_encoders() -> None:
    """Print milliseconds per text for each runtime, and the largest difference of their outputs."""
    rows = []
    for name, tokens in ENCODERS.items():
        inputs = encoder_inputs(name, tokens)
        runs = {"ONNX Runtime": onnx_session(name), "OpenVINO": openvino_session(name)}
        outputs: dict[str, list[np.ndarray]] = {}
        for runtime, run in runs.items():
            run(inputs[0])
            started = time.perf_counter()
            outputs[runtime] = [run(one) for one in inputs]
            milliseconds = 1000 * (time.perf_counter() - started) / len(inputs)
            first = outputs["ONNX Runtime"]
            far = max(float(np.abs(a - b).max()) for a, b in zip(first, outputs[runtime], strict=True))
            rows.append([name, runtime, f"{milliseconds:.1f}", f"{far:.2f}"])
    print(table(["encoder", "runtime", "ms per text", "largest difference"], rows))


def encoder_inputs(name: str, tokens: int) -> list[Row]:
    """Texts of the sample's pages, and pairs of them with the question for the cross-encoder."""
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(locate(name) / "tokenizer.json"))
    tokenizer.enable_truncation(tokens)
    tokenizer.no_padding()
    found = []
    for request in prompts(None):
        text = request.messages[0].content
        for start in range(0, len(text) - 400, 400):
            piece = text[start : start + 400]
            encoded = tokenizer.encode(text[-80:], piece) if name.startswith("ms-marco") else tokenizer.encode(piece)
            found.append(
                {
                    key: np.array([values], np.int64)
                    for key, values in (
                        ("input_ids", encoded.ids),
                        ("attention_mask", encoded.attention_mask),
                        ("token_type_ids", encoded.type_ids),
                    )
                }
            )
    return found


def onnx_session(name: str) -> Callable[[Row], np.ndarray]:
    """Runs the encoder with ONNX Runtime, as the preset does."""
    import onnxruntime

    session = onnxruntime.InferenceSession(locate(name) / "model.onnx", providers=["CPUExecutionProvider"])
    wanted = [one.name for one in session.get_inputs()]

    def run(one: Row) -> np.ndarray:
        return np.asarray(session.run(None, {key: one[key] for key in wanted})[0])

    return run


def openvino_session(name: str) -> Callable[[Row], np.ndarray]:
    """Runs the same file with OpenVINO."""
    import openvino

    compiled = openvino.Core().compile_model(locate(name) / "model.onnx", "CPU", {"PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    wanted = [port.get_any_name() for port in compiled.inputs]

    def run(one: Row) -> np.ndarray:
        request.infer({key: one[key] for key in wanted})
        return np.array(request.get_output_tensor(0).data)

    return run


if __name__ == "__main__":
    raise SystemExit(main())
