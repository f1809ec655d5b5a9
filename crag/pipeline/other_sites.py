"""A check of answers from pages that reads the pages again, without one site."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from crag.answering import (
    Answerer,
    Check,
    ConfidenceModel,
    Draft,
    added_words,
    answer_features,
    find_closed_score_gate,
    holds_answer,
)
from crag.core.contracts import I_DONT_KNOW, WEB, GateFiring, Passage
from crag.engines.llm import GenerationRequest
from crag.pipeline.case import Case
from crag.pipeline.turns import NOTHING_RETRIEVED
from crag.settings import AnsweringSettings
from crag.text.matching import same_answer
from crag.web import RetrievedPassages, WebPath, find_site

LEAST_OTHER_PAGES = 2
"""Of other sites, in one context, that may contradict an answer."""
OTHER_SITES_KEY = "other sites"
"""The trace's name of the reply to all sites but one."""


@dataclass(frozen=True)
class ReadOtherSites(Check[Case]):
    """Withholds an answer that one site alone holds if the model gives another one without that site.

    An attacker can write a page that is found and believed, but hardly what several other pages say. Which of the two
    answers is right cannot be known. The other answer counts only if it might be given by itself, through the gates and
    with P(correct) above the threshold: from pages that do not hold an answer the model mostly makes a poor one.
    """

    name = "other sites"
    asks = True

    answerer: Answerer
    web: WebPath
    settings: AnsweringSettings
    model: ConfidenceModel | None

    def applies(self, draft: Draft) -> bool:
        """An answer of the model from pages, about to be given."""
        return not draft.abstains and draft.answer.source == WEB and draft.generation is not None

    def requests(self, case: Case, draft: Draft) -> Mapping[str, GenerationRequest]:
        """The same question without the site, where one site alone holds the answer and there are others."""
        other_passages = self._without_only_site(case, draft)
        if other_passages is None or not other_passages.context:
            return {}
        if find_closed_score_gate(self.settings.gates, other_passages.top_probability) is not None:
            return {}

        domain = case.trace.route.label("domain")
        return {OTHER_SITES_KEY: self.answerer.request(case.query, other_passages.context, domain)}

    def __call__(self, case: Case, draft: Draft) -> GateFiring | None:
        """Withhold the answer if the other sites give another one."""
        reply = draft.replies.get(OTHER_SITES_KEY)
        other_passages = self._without_only_site(case, draft)
        # A generation that the clock ended says nothing.
        if other_passages is None or reply is None or reply.finish_reason not in {"stop", "length"}:
            return None

        other_draft = self.answerer.read(reply, other_passages.context, WEB)
        if other_draft.abstains or same_answer(other_draft.answer.text, draft.answer.text):
            return None

        p_correct = self._estimate(case, other_passages, other_draft)
        if p_correct is not None:
            case.note(f"without one site the answer is {other_draft.answer.text!r}: P(correct) is {p_correct:.2f}")
        # An answer that P(correct) does not cover counts, as it would be given.
        if p_correct is not None and p_correct <= self.settings.threshold:
            return None

        reason = f"one site alone holds it, and the others say {other_draft.answer.text!r}"
        return GateFiring(self.name, reason, I_DONT_KNOW)

    def _estimate(self, case: Case, other_passages: RetrievedPassages, other_draft: Draft) -> float | None:
        """P(correct) of what the other sites say."""
        if self.model is None:
            return None
        other_trace = replace(
            case.trace,
            passages=list(other_passages.passages),
            passages_left_out=list(other_passages.left_out),
            facts=[],
        )
        return self.model.probability(answer_features(other_trace, other_draft))

    def _without_only_site(self, case: Case, draft: Draft) -> RetrievedPassages | None:
        """The passages of all other sites, if a single site holds the answer.

        None if no site or several hold it, or if too few other pages remain.
        """
        words = added_words(draft.answer.text, case.trace)
        # Facts come from data that we ship or from the graph, not from strangers.
        if any(holds_answer(words, fact.text) for fact in case.trace.facts):
            return None

        sites = {find_site(passage.url) for passage in case.trace.found_passages if _holds(passage, words)}
        if len(sites) != 1:
            return None

        other_passages = self.web.without_site(case.retrieved or NOTHING_RETRIEVED, sites.pop())
        # A single page is no more to be believed than the site itself: it may be the attacker's.
        pages = {passage.url for passage in other_passages.passages}
        return other_passages if len(pages) >= LEAST_OTHER_PAGES else None


def _holds(passage: Passage, answer_words: list[str]) -> bool:
    """Whether a passage, with its page's title, has all words of an answer."""
    return holds_answer(answer_words, f"{passage.page_name} {passage.text}")
