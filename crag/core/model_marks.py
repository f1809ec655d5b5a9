"""The marks that language models write around thoughts, channels and turns: one list for prompts, answers and judges.

In a prompt such a mark must not stand, because it would end a turn: `CONTROL_TOKENS`. In a reply it surrounds what is
no answer: `final_text`. The shapes are those of the models' chat templates; servers send them as text if they do not
know the model, or if a limit cuts a thought.
"""

import re

_THOUGHT_NAME = (
    r"(?:(?!begin|start|end)[a-z]{1,12}[:_])?"  # <seed:think>, <longcat_think>
    r"(?:(?:ant)?think(?:ing|_fast|_faster)?|thoughts?|reason(?:ing)?|reflection|scratch_?pad|rationale"
    r"|analysis|plan(?:ning)?|deliberation|inner_?thoughts|inner_?monologue|chain_of_thought|cot)"
    r"(?:[:_](?:opensource|content|process|trace|steps?|budget(?:_[a-z]{1,12})?))?"  # <think:opensource>
)
"""Names of thoughts, as in ``<think>``."""
_BRACKETED_THOUGHT_NAME = r"(?:THINK(?:ING)?|THOUGHTS?|REASONING)"
"""In square brackets only these: ``[reflection]`` is an ordinary word."""

CONTROL_TOKENS = (
    r"<\|[^<>|\n]{0,64}\|>|<｜[^<>｜\n]{0,64}｜>|<</?SYS>>"
    r"|\[(?:/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_RESULTS|TOOL_CALLS|CLS|SEP|MASK|PAD|UNK"
    rf"|/?{_BRACKETED_THOUGHT_NAME})\]"
    r"|<(?:/?s|unk|pad|bos|eos|mask|cls|sep|/?start_of_turn|/?end_of_turn)>"
    r"|<\|(?:turn|channel|tool|think)>|<(?:turn|channel|tool)\|>"
    r"|\[\|[a-z_]{1,24}\|\]|\[UNUSED_TOKEN_\d{1,4}\]|<(?:eo[ah]|/longcat_s|role|/role)>|\[e~\[|\]~!?b[\[\]]"
    r"|<(?:SPECIAL|extra_id|reserved|unused)_\d{1,5}>"
    rf"|</?{_THOUGHT_NAME}>|◁/?{_THOUGHT_NAME}▷|<unused9[45]>"
)
"""Pattern of texts that chat templates or tokenizers of common models turn into control tokens; ignore case."""

_THOUGHT_MARK = re.compile(
    rf"""
      (?P<open>
          # "<think>", "＜think＞", "&lt;think&gt;", "<think foo='1'>"; the last bracket may be cut off.
          (?: < | ＜ | &lt; | ◁ ) \s? \|? {_THOUGHT_NAME}
              (?: [ ][^<>\n]{{0,80}} )? (?: \|? \s? (?: > | ＞ | &gt; | ▷ ) | (?=\n) | \Z )
        | \[{_BRACKETED_THOUGHT_NAME}\]
        | <\|(?:begin|start)_(?:of_)?(?:{_THOUGHT_NAME})\|>
        | <\|inner_prefix\|>
        | <\|channel>\s{{0,4}}thought
        | <unused94>
        | <details\ type=["']reasoning["'][^<>\n]{{0,200}}>
        | \A\s{{0,9}}Thinking(?:\.\.\.|…)[ ]?\n    # Ollama's terminal
      )
    | (?P<close>
          (?: < | ＜ | &lt; | ◁ ) \s? \|? [/\\]{{1,2}} \s? {_THOUGHT_NAME}
              (?: \|? \s? (?: > | ＞ | &gt; | ▷ ) | (?=\n) | \Z )
        | \[/{_BRACKETED_THOUGHT_NAME}\]
        | <\|end_(?:of_)?(?:{_THOUGHT_NAME})\|>
        | <\|inner_suffix\|>
        | <channel\|>
        | <\|content\|>    # Solar
        | <unused95>
        | </details>
        | (?:\.\.\.|…)[ ]?done\ thinking\.
        | ^Here\ is\ my\ response:    # Granite 3.2
      )
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_EMPTY_THOUGHT = re.compile(rf"<\s?{_THOUGHT_NAME}\s?/>", re.IGNORECASE)
_CUT_MARK = re.compile(r"\s{0,9}(?:<|◁)\|?[a-z_:]{0,16}", re.IGNORECASE)
"""A whole reply that is no more than the beginning of a mark."""

_CHANNEL = re.compile(r"<\|channel\|>\s{0,4}(?:analysis|commentary|final)\b", re.IGNORECASE)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_PLAIN_CHANNELS = re.compile(
    r"""
      \A\s{0,9} (?:assistant\s?)? (?:analysis|commentary) (?= .{0,100000} assistant \s{0,3} final )
    | \A\s{0,9} analysis (?=[A-Z])
    | assistantfinal
    """,
    re.VERBOSE | re.DOTALL,
)
"""Channels whose tokens a server has left out: "analysisThe page says so.assistantfinalParis"."""
_PLAIN_FINAL = re.compile(r"assistant\s{0,3}final")

_ANSWER_TAG = re.compile(r"<(?P<end>/?)(?:answer|final_answer|final|response|solution|output)>", re.IGNORECASE)
_WRAPPER = re.compile(r"<\|(?:begin|end|start)_(?:of_)?(?:solution|box|response|answer|text|action)\|>", re.IGNORECASE)
"""Tokens around the answer itself."""

_TOKEN = re.compile(CONTROL_TOKENS, re.IGNORECASE)
_CUT_TOKEN = re.compile(r"<\|[a-z_]{0,30}\|?\Z", re.IGNORECASE)
"""The beginning of a token at which a limit or a stop string cut the text."""
_OWN_ROLE = re.compile(r"\s{0,9}(?:assistant|model|bot|answer)(?![^\S\n]{0,9}[a-z]):?\s{0,9}", re.IGNORECASE)
_OTHER_ROLE = re.compile(r"\s{0,9}(?:user|system|human|developer|think)\s{0,9}(?:\n|\Z)", re.IGNORECASE)
_OTHERS_TOKEN = re.compile(r"<\|(?:user|system|human|observation)\|>|<｜User｜>|\[INST\]|<<SYS>>", re.IGNORECASE)
"""Tokens that begin a turn which is not the model's."""
_PLAIN_OWN_ROLE = re.compile(
    r"""
      \A\s{0,9} (?:
          (?:assistant|model) [ ]{0,3} \n    # not "assistant" alone, nor "Model T"
        | (?:Assistant|ASSISTANT|assistant|AI) : (?=\s)
        | \#{2,3}[ ] (?:Response|Assistant|Answer|Output) :? (?=\s)
      ) \s{0,9} (?=\S)
    """,
    re.VERBOSE,
)
"""The role's name before its turn, from a server that has left out the tokens, or as plain prompts write it."""
_PLAIN_NEXT_ROLE = re.compile(
    r"""
      (?<=[\w.!?)"'])assistant [ ]{0,3} (?:\n|\Z)    # "Parisassistant"
    | (?<=\S) \s{0,3} \n (?:
          (?:user|assistant) [ ]{0,3} (?:\n|\Z)
        | (?:User|USER|Human|Assistant|ASSISTANT) :
        | \#{2,3}[ ] (?:Instruction|Input|Response|User|Human|Assistant|Question) \b
      )
    """,
    re.VERBOSE,
)
"""The name of the next turn's role, after a token that the server has left out or a model that knows none."""


def final_text(reply: str) -> str:
    r"""What a reply says in the end: without thoughts, other channels, tokens of turns, and what follows its turn.

    A text without such marks comes back as it is. A thought that has no end, because a limit cut it, leaves nothing; a
    mark that ends one without a beginning, which some templates put into the prompt, ends the thought before it.

    Example:
        >>> final_text("<think>The page names her.</think>\n\nAda Byron<|im_end|>")
        'Ada Byron'
        >>> final_text("<think>The page names")
        ''
    """
    text = _final_channel(reply)
    text = _without_thoughts(text)
    text = _inside_answer_tags(text)
    text = _own_turn(text)
    # What had no mark keeps its blanks too: it may continue a prompt.
    return reply if text == reply else text.strip()


def _final_channel(text: str) -> str:
    """The text of the last final channel (OpenAI's Harmony format); empty if there are only others."""
    if "<|message|>" in text:
        return _final_message(text)

    if _CHANNEL.search(text):
        _, mark, final = text.rpartition("final")
        return final if mark else ""

    if _PLAIN_CHANNELS.search(text):
        final_marks = list(_PLAIN_FINAL.finditer(text))
        return text[final_marks[-1].end() :] if final_marks else ""
    return text


def _final_message(text: str) -> str:
    """The last message whose header names the final channel, else the last one whose header names no channel."""
    header, *rest = text.split("<|message|>")
    final: str | None = None
    unnamed: str | None = None

    for part in rest:
        # A part is a message and, after the token that ends it, the header of the next one.
        end = _CHANNEL_END.search(part)
        message = part[: end.start()] if end else part
        # Only the end of a header counts: before the first one a server may have kept other text.
        name = header[-80:].lower()
        if "final" in name:
            final = message
        elif "analysis" not in name and "commentary" not in name:
            unnamed = message
        header = part[end.start() :] if end else ""

    return final or unnamed or ""


def _without_thoughts(text: str) -> str:
    text = _EMPTY_THOUGHT.sub("", text)
    parts: list[str] = []
    start = 0
    is_thought = False
    for mark in _THOUGHT_MARK.finditer(text):
        if mark["open"]:
            # Thoughts do not nest: a second beginning is a word of the first thought.
            if not is_thought:
                parts.append(text[start : mark.start()])
            is_thought = True
        elif is_thought:
            is_thought = False
        elif mark[0].lower() != "</details>":
            # An end without a beginning: the beginning was in the prompt.
            parts.clear()
        else:
            continue
        start = mark.end()

    if not is_thought:
        parts.append(text[start:])
    text = "".join(parts)
    return "" if _CUT_MARK.fullmatch(text) else text


def _inside_answer_tags(text: str) -> str:
    """The text in the last pair of tags such as ``<answer>``; the second may be missing. All of it without tags."""
    inside: str | None = None
    start: int | None = None
    for tag in _ANSWER_TAG.finditer(text):
        if not tag["end"]:
            start = tag.end()
        elif start is not None:
            inside = text[start : tag.start()]
            start = None

    if start is not None and text[start:].strip():
        inside = text[start:]
    return text if inside is None else inside


def _own_turn(text: str) -> str:
    """The text up to the first token that ends its turn, without the tokens and the role that begin the turn."""
    text = _CUT_TOKEN.sub("", _WRAPPER.sub("", text))
    tokens = list(_TOKEN.finditer(text))
    if tokens:
        text = _first_turn(text, tokens)

    text = _PLAIN_OWN_ROLE.sub("", text, count=1)
    role = _PLAIN_NEXT_ROLE.search(text)
    return text[: role.start()] if role else text


def _first_turn(text: str, tokens: list[re.Match[str]]) -> str:
    """The first text between tokens that is more than the name of a role and belongs to no other's turn."""
    start = 0
    is_others = False
    ends = [*(token.start() for token in tokens), len(text)]
    next_starts = [*(token.end() for token in tokens), len(text)]

    for end, next_start in zip(ends, next_starts, strict=True):
        turn = text[start:end]
        if _OTHER_ROLE.match(turn):
            # The words of another's turn follow the name of its role, sometimes after one more token.
            is_others = not turn.strip().count("\n")
        elif turn.strip() and not is_others:
            role = _OWN_ROLE.match(turn)
            own = turn[role.end() :] if role else turn
            if own.strip():
                return own
        elif turn.strip():
            is_others = False

        if _OTHERS_TOKEN.fullmatch(text[end:next_start]):
            is_others = True
        start = next_start
    return ""
