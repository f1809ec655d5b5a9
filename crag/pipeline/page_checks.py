"""Checks of answers from pages that read the pages again: each by itself, or without one site."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from crag.answering import (
    Answerer,
    Check,
    ConfidenceModel,
    Draft,
    ExpectedScore,
    added_words,
    answer_features,
    find_closed_score_gate,
    holds_answer,
)
from crag.core.contracts import I_DONT_KNOW, WEB, GateFiring, Passage
from crag.engines.llm import GenerationRequest
from crag.pipeline.case import Case
from crag.pipeline.turns import NOTHING_RETRIEVED
from crag.settings import AnsweringSettings, GateSettings, SinglePageSettings
from crag.text.matching import same_answer
from crag.web import RetrievedPassages, WebPath, find_site

SINGLE_PAGE_KEY = "alone "
"""Precedes the number of the page in the trace's names of replies to single pages."""
LEAST_OTHER_PAGES = 2
"""Of other sites, in one context, that may contradict an answer."""
OTHER_SITES_KEY = "other sites"
"""The trace's name of the reply to all sites but one."""


def add_page_checks(
    checks: Sequence[Check[Case]],
    answerer: Answerer,
    web: WebPath,
    settings: AnsweringSettings,
    model: ConfidenceModel | None,
) -> list[Check[Case]]:
    """The checks of answers from pages: the usual ones, with those that read pages again before and after them."""
    page_checks: list[Check[Case]] = []
    for check in checks:
        # It counts the single pages that agree, and all that P(correct) depends on besides is known by now.
        if isinstance(check, ExpectedScore):
            page_checks += _single_page_checks(answerer, web, settings, model)
        page_checks.append(check)

    # Other sites are read last: only an answer that is about to be given is worth their time.
    if settings.other_sites:
        minimum = _least_confidence(settings)
        page_checks.append(ReadOtherSites(answerer, web, settings.gates, minimum, model))
    return page_checks


def _single_page_checks(
    answerer: Answerer, web: WebPath, settings: AnsweringSettings, model: ConfidenceModel | None
) -> list[Check[Case]]:
    """One check for each page that may be read alone.

    The best page is the last: that it agrees is expected, so another page settles the decision more often.
    """
    alone = settings.alone
    if alone is None:
        return []
    # An audit measures: what it learns about a feature must not depend on where a decision fell early.
    threshold: float | None = None
    if settings.confidence is not None and not settings.audit:
        threshold = settings.confidence.threshold

    from_last_to_best = range(alone.pages, 0, -1)
    return [ReadPageAlone(number, answerer, web, alone, model, threshold) for number in from_last_to_best]


def _least_confidence(settings: AnsweringSettings) -> float:
    """The P(correct) above which an answer may still be given: single pages that agree raise it."""
    if settings.confidence is None:
        return 0.0
    threshold = settings.confidence.threshold
    return min(threshold, settings.alone.above) if settings.alone else threshold


@dataclass(frozen=True)
class ReadPageAlone(Check[Case]):
    """Asks the model about one of the best pages in a separate prompt, and withholds nothing.

    So one page cannot speak for others (RobustRAG, Xiang et al. 2024). P(correct) uses how many of them agree. Each
    page has a check of its own, from the last page to the best, so that the next one is read only where those before
    leave the decision open.

    `number` is the page's rank, from 1. An answer is given if P(correct) is above `threshold`; with None every page is
    read, whatever the others say.
    """

    name = "pages alone"
    asks = True

    number: int
    answerer: Answerer
    web: WebPath
    settings: SinglePageSettings
    model: ConfidenceModel | None
    threshold: float | None

    def applies(self, draft: Draft) -> bool:
        """An answer of the model from pages."""
        return not draft.abstains and draft.answer.source == WEB

    def requests(self, case: Case, draft: Draft) -> Mapping[str, GenerationRequest]:
        """The question with this page only, unless the decision is clear without it."""
        retrieved = case.retrieved or NOTHING_RETRIEVED
        contexts = self.web.separate_contexts(retrieved, self.settings.pages, self.settings.max_tokens)
        if self.number > len(contexts) or not self._is_open(case, draft):
            return {}

        domain = case.trace.route.label("domain")
        return {self._key: self.answerer.request(case.query, contexts[self.number - 1], domain)}

    def read(self, case: Case, draft: Draft) -> Draft:
        """The draft with the page's answer. A generation that the clock ended is no page's answer."""
        reply = draft.replies.get(self._key)
        if reply is None or reply.finish_reason not in {"stop", "length"}:
            return draft
        page_answer = self.answerer.read(reply, "", WEB).answer.text
        return replace(draft, single_page_answers=(*draft.single_page_answers, page_answer))

    def __call__(self, case: Case, draft: Draft) -> None:
        """Keep the answer: `ExpectedScore` decides later, with the answers of the pages."""

    @property
    def _key(self) -> str:
        """The trace's name of the reply."""
        return f"{SINGLE_PAGE_KEY}{self.number}"

    def _is_open(self, case: Case, draft: Draft) -> bool:
        """Whether what this page and the better ones say can still decide if the answer is given."""
        p_without_pages = self._estimate(case, draft, ())
        # What P(correct) does not cover is given anyway; the pages are for the record.
        if p_without_pages is None:
            return True
        if not self.settings.above < p_without_pages < self.settings.below:
            return False
        if self.threshold is None:
            return True

        # As many pages are unread as the rank of this one. The more of them agree, the further P(correct) moves in one
        # direction, so all that they may say lies between these: nothing in time, none agrees, all agree.
        so_far = draft.single_page_answers
        none_agrees = so_far + (I_DONT_KNOW,) * self.number
        all_agree = so_far + (draft.answer.text,) * self.number

        decisions: set[bool] = set()
        for page_answers in (so_far, none_agrees, all_agree):
            p_correct = self._estimate(case, draft, page_answers)
            decisions.add(p_correct is None or p_correct > self.threshold)
        return len(decisions) > 1

    def _estimate(self, case: Case, draft: Draft, page_answers: Sequence[str]) -> float | None:
        """P(correct) if single pages gave these answers."""
        if self.model is None:
            return None
        supposed_draft = replace(draft, single_page_answers=tuple(page_answers))
        return self.model.probability(answer_features(case.trace, supposed_draft))


@dataclass(frozen=True)
class ReadOtherSites(Check[Case]):
    """Withholds an answer that one site alone holds if the model gives another one without that site.

    An attacker can write a page that is found and believed, but hardly what several other pages say. Which of the two
    answers is right cannot be known. The other answer counts only if it might be given by itself, through the `gates`
    and with P(correct) above `minimum`: from pages that do not hold an answer the model mostly makes a poor one.
    """

    name = "other sites"
    asks = True

    answerer: Answerer
    web: WebPath
    gates: Sequence[GateSettings]
    minimum: float
    model: ConfidenceModel | None

    def applies(self, draft: Draft) -> bool:
        """An answer of the model from pages, about to be given."""
        return not draft.abstains and draft.answer.source == WEB and draft.generation is not None

    def requests(self, case: Case, draft: Draft) -> Mapping[str, GenerationRequest]:
        """The same question without the site, where one site alone holds the answer and there are others."""
        other_passages = self._without_only_site(case, draft)
        if other_passages is None or not other_passages.context:
            return {}
        if find_closed_score_gate(self.gates, other_passages.top_probability) is not None:
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
        if p_correct is not None and p_correct <= self.minimum:
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
