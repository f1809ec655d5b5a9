"""Runs a peer in the peers' environment: a line of JSON on standard input is a task, one on standard output its result.

`crag.benchmarks.peers` starts it. This package is not installed there, so only the standard library and the peer are
imported:

    python -P peer_worker.py llama.cpp MODEL.gguf THREADS
    python -P peer_worker.py haystack MODEL.gguf THREADS ENCODER

The first line that it writes says `versions`.
"""

import itertools
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

WINDOW = 8192
"""Tokens of prompt and answer."""
ANSWER_TOKENS = 75
"""What the competition keeps of an answer."""
START_SECONDS = 300
"""For loading the weights on a busy machine."""
TEMPLATE = """
Answer the questions based on the given context.

Context:
{% for document in documents %}
    {{ document.content }}
{% endfor %}

Question: {{ question }}
Answer:
"""
"""The prompt of Haystack's tutorials 27 and 30 (https://haystack.deepset.ai/tutorials)."""

Fields = Mapping[str, Any]
"""A JSON object."""


def serve(run: Callable[[Fields], Fields], versions: Mapping[str, str]) -> None:
    """Run the tasks of standard input until it ends."""
    # Libraries print to standard output too, which must hold results alone.
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    results.write(json.dumps({"versions": versions}) + "\n")
    results.flush()
    for line in sys.stdin:
        results.write(json.dumps(run(json.loads(line))) + "\n")
        results.flush()


class LlamaCpp:
    """llama.cpp in this process. What a prompt shares with the one before at its beginning is read once."""

    def __init__(self, weights: str, threads: int) -> None:
        llama_cpp = import_module("llama_cpp")
        self.versions = {"llama-cpp-python": version("llama-cpp-python")}
        self._model = llama_cpp.Llama(
            weights,
            n_ctx=WINDOW,
            n_threads=threads,
            n_threads_batch=threads,
            flash_attn=True,
            verbose=False,
        )

    def run(self, task: Fields) -> Fields:
        """Read the tokens of `prompt` and write `count` tokens, whatever they are, each the most likely one."""
        began = time.perf_counter()
        stream = self._model.generate(task["prompt"], temp=0.0)
        tokens = [next(stream)]
        seconds_to_first = time.perf_counter() - began
        while len(tokens) < task["count"]:
            tokens.append(next(stream))

        return {
            "text": self._model.detokenize(tokens).decode(errors="replace"),
            "prefill_seconds": seconds_to_first,
            "seconds": time.perf_counter() - began,
        }


class Haystack:
    """A Haystack pipeline as its tutorials build it, with llama.cpp's weights behind a server.

    Each question has pages of its own, so it has an index of its own.
    """

    def __init__(self, weights: str, threads: int, encoder: str) -> None:
        packages = ("haystack-ai", "sentence-transformers", "trafilatura", "llama-cpp-python")
        self.versions = {package: version(package) for package in packages}
        self._server, self._address = _start_server(weights, threads)
        self._encoder = encoder

        self._store = self._component("document_stores.in_memory", "InMemoryDocumentStore")
        self._index = self._build_index()
        self._answer = self._build_answer()

    def run(self, task: Fields) -> Fields:
        """Index the HTML of `pages` and answer `query`."""
        byte_stream = import_module("haystack.dataclasses").ByteStream
        began = time.perf_counter()
        self._store.delete_documents([document.id for document in self._store.filter_documents()])
        sources = [byte_stream.from_string(page, mime_type="text/html") for page in task["pages"]]
        self._index.run({"converter": {"sources": sources}})

        query = task["query"]
        result = self._answer.run({"embedder": {"text": query}, "prompt": {"question": query}})
        reply = result["model"]["replies"][0].text or ""
        return {"answer": reply.strip(), "seconds": time.perf_counter() - began}

    def _build_index(self) -> Any:  # noqa: ANN401 - the peer's type
        pipeline = self._component("core.pipeline", "Pipeline")
        parts = {
            "converter": self._component("components.converters", "HTMLToDocument"),
            "cleaner": self._component("components.preprocessors", "DocumentCleaner"),
            "splitter": self._component(
                "components.preprocessors", "DocumentSplitter", split_by="word", split_length=150, split_overlap=50
            ),
            "embedder": self._embedder("SentenceTransformersDocumentEmbedder", progress_bar=False),
            # Pages repeat each other's passages
            "writer": self._component(
                "components.writers", "DocumentWriter", document_store=self._store, policy=self._overwrite()
            ),
        }
        return _in_a_row(pipeline, parts)

    def _build_answer(self) -> Any:  # noqa: ANN401 - the peer's type
        message = import_module("haystack.dataclasses").ChatMessage
        secret = import_module("haystack.utils").Secret
        pipeline = self._component("core.pipeline", "Pipeline")

        pipeline.add_component("embedder", self._embedder("SentenceTransformersTextEmbedder", progress_bar=False))
        retriever = self._component(
            "components.retrievers.in_memory", "InMemoryEmbeddingRetriever", document_store=self._store
        )
        pipeline.add_component("retriever", retriever)
        prompt = self._component(
            "components.builders", "ChatPromptBuilder", template=[message.from_user(TEMPLATE)], required_variables="*"
        )
        pipeline.add_component("prompt", prompt)

        model = self._component(
            "components.generators.chat",
            "OpenAIChatGenerator",
            api_key=secret.from_token("none"),
            api_base_url=f"{self._address}/v1",
            model="peer",
            timeout=600,
            generation_kwargs={"max_tokens": ANSWER_TOKENS, "temperature": 0.0},
        )
        pipeline.add_component("model", model)

        pipeline.connect("embedder.embedding", "retriever.query_embedding")
        pipeline.connect("retriever.documents", "prompt.documents")
        pipeline.connect("prompt.prompt", "model.messages")
        return pipeline

    def _component(self, module: str, name: str, **arguments: object) -> Any:  # noqa: ANN401 - the peer's type
        return getattr(import_module(f"haystack.{module}"), name)(**arguments)

    def _embedder(self, name: str, **arguments: object) -> Any:  # noqa: ANN401 - the peer's type
        module = import_module("haystack_integrations.components.embedders.sentence_transformers")
        return getattr(module, name)(model=self._encoder, **arguments)

    def _overwrite(self) -> Any:  # noqa: ANN401 - the peer's type
        return import_module("haystack.document_stores.types").DuplicatePolicy.OVERWRITE


def _in_a_row(pipeline: Any, parts: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the peer's types
    """A pipeline whose components hand their result to the next one."""
    for name, part in parts.items():
        pipeline.add_component(name, part)
    for sender, receiver in itertools.pairwise(parts):
        pipeline.connect(sender, receiver)
    return pipeline


def _start_server(weights: str, threads: int) -> tuple[subprocess.Popen[bytes], str]:
    """llama.cpp behind an HTTP server, and its address. It is in this process's group, which is ended as a whole."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    command = [sys.executable, "-m", "llama_cpp.server"]
    command += ["--model", weights, "--port", str(port), "--n_ctx", str(WINDOW), "--flash_attn", "True"]
    command += ["--n_threads", str(threads), "--n_threads_batch", str(threads)]
    server = subprocess.Popen(command, stdout=2)

    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + START_SECONDS
    while not _answers(f"{address}/v1/models"):
        if server.poll() is not None or time.monotonic() > until:
            server.kill()
            raise SystemExit("the llama.cpp server does not start")
        time.sleep(0.5)
    return server, address


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):  # noqa: S310 - our own http address
            return True
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    kind, weights, threads, *encoder = sys.argv[1:]
    peer = LlamaCpp(weights, int(threads)) if kind == "llama.cpp" else Haystack(weights, int(threads), *encoder)
    serve(peer.run, peer.versions)
