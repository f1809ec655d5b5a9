"""The rubric by which a language model checks whether the context holds the right answer (db3's p_context, C.2).

`crag.evaluation.answer_in_text` does the same by rules.
"""

from crag.evaluation.judge import Claim
from crag.evaluation.judge.rubrics import Rubric

CONTEXT_RUBRIC = Rubric(
    name="db3-context",
    instructions=(
        "The prediction is not an answer but a context that a search gave for the question: texts to look through. It "
        "is accurate if it mentions at least one of the ground truth answers as the answer to the question, be it in "
        "other words, and not accurate otherwise."
    ),
    field="accuracy",
    grade=bool,
    examples=(
        (
            Claim(
                "who wrote the glass harbor?",
                ("ines valdoro",),
                "The Glass Harbor, a play by Inês Valdoro.",
            ),
            True,
        ),
        (
            Claim(
                "who wrote the glass harbor?",
                ("ines valdoro",),
                "The Glass Harbor was first played in 1961.",
            ),
            False,
        ),
    ),
)
"""db3's p_context for a `LanguageModelJudge`: context, question, ground truth, and whether it is mentioned, in our own
words and with our own examples."""
