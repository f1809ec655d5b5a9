"""The list of all commands. Standard library only: it is read before the command is known."""

from collections.abc import Mapping
from typing import NamedTuple


class Verb(NamedTuple):
    """A command: the module in `crag.commands` whose `main` it is, and what it does."""

    module: str
    summary: str


class VerbGroup(NamedTuple):
    """A command with commands of its own."""

    summary: str
    verbs: Mapping[str, Verb]


VERBS: Mapping[str, Verb | VerbGroup] = {
    "evaluate": Verb("evaluate", "run an agent over a question file and print the CRAG metrics"),
    "ask": Verb("ask", "answer questions from your pages or a graph, with reasons"),
    "judge": Verb("judge", "judge a file of predictions, or stored runs again"),
    "compare": Verb("compare", "compare runs"),
    "runs": Verb("runs", "list runs with scores, seconds and tokens"),
    "report": Verb("report", "rewrite the report of a run"),
    "preflight": Verb("preflight", "check the submission in this folder"),
    "completion": Verb("completion", "print a script that completes commands in your shell"),
    "smoke": Verb("smoke", "rehearse a preset in an empty folder without network"),
    "data": VerbGroup(
        "public questions and tables",
        {
            "list": Verb("data.list_files", "list the files of the public CRAG questions"),
            "fetch": Verb("data.fetch", "fetch the public CRAG questions"),
            "tables": Verb("data.tables", "make tables of public facts from the files that db3 used"),
        },
    ),
    "models": VerbGroup(
        "fetch and convert weights",
        {
            "fetch": Verb("models.fetch", "fetch the models of a preset, or single models"),
            "stand-in": Verb("models.stand_in", "make small random models in place of a preset's"),
            "int8": Verb("models.int8", "write the int8 weights of a model for OpenVINO"),
        },
    ),
    "index": VerbGroup(
        "the indexes of your folders that `crag ask --pages` keeps",
        {
            "list": Verb("index.list_indexes", "list the indexes with their places, pages and bytes"),
            "clear": Verb("index.clear", "delete indexes; your own files stay"),
        },
    ),
    "inspect": VerbGroup(
        "see what a step of the pipeline makes of your input",
        {
            "pages": Verb("inspect.pages", "print the text of a page as retrieval sees it"),
            "context": Verb("inspect.context", "write what the answering model reads for each question"),
            "route": Verb("inspect.route", "write the classes of each question"),
            "calls": Verb("inspect.calls", "write the graph calls of each question"),
        },
    ),
    "graph": VerbGroup(
        "serve, import and query a knowledge graph",
        {
            "serve": Verb("graph.serve", "serve the 38 endpoints over a graph of JSON tables"),
            "import": Verb("graph.import_graph", "make tables from the official graph files"),
            "run": Verb("graph.run", "run calls and print their results as JSON"),
        },
    ),
    "train": VerbGroup(
        "train what the presets use",
        {
            "router": Verb("train.router", "train a question classifier"),
            "calibrate": Verb("train.calibrate", "fit P(correct) to finished runs"),
            "api-pairs": Verb("train.api_pairs", "write labelled questions with the entities of their calls"),
            "label-calls": Verb("train.label_calls", "label questions with calls"),
            "labels": Verb("train.labels", "label the answering model's prompts"),
            "prompts": Verb("train.prompts", "write prompts and completions to tune with"),
            "folds": Verb("train.folds", "write the questions that a fold holds out"),
            "lora": Verb("train.lora", "tune an adapter"),
            "preferences": Verb("train.preferences", "write pairs of right, silent and wrong answers"),
            "dpo": Verb("train.dpo", "tune an adapter by preferences"),
            "adapters": Verb("train.adapters", "run all steps that make an adapter"),
            "choose-examples": Verb("train.choose_examples", "choose the examples of the call writer's prompt"),
        },
    ),
    "bench": VerbGroup(
        "measure what the published figures say",
        {
            "kg-execution": Verb("bench.kg_execution", "run labelled calls and compare their values"),
            "kg-writing": Verb("bench.kg_writing", "compare written calls with labelled ones"),
            "reading": Verb("bench.reading", "what readers of web pages lose"),
            "retrieval": Verb("bench.retrieval", "seconds and recall of the web path"),
            "folder": Verb("bench.folder", "recall and right answers over ever more documents"),
            "adversary": Verb("bench.adversary", "answers under pages of an attacker"),
            "t4-plan": Verb("bench.t4_plan", "time and memory of the GPU presets on four T4"),
            "peers": Verb("bench.peers", "llama.cpp and Haystack beside this engine and pipeline"),
            "starter-kit": Verb("bench.starter_kit", "run the starter kit's baselines with a preset's model"),
        },
    ),
}
"""Every command, in the order of the help."""
