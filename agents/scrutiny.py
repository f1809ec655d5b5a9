"""What an answer goes through before it is given: formula, self-assessment, second look, P(correct).

Whatever withholds an answer leaves a `GateFiring` in the trace with the answer that it withheld, so that a run tells
what each rule cost and what it saved.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from agents.answering import (
    NO_ASSESSMENT,
    NO_REVIEW,
    Assessment,
    Assessor,
    ConfidenceModel,
    Draft,
    Refiner,
    Review,
    answer_features,
    decide,
    question_features,
    shown,
)
from agents.batch_run import BatchRun
from agents.contracts import (
    GRAPH,
    I_DONT_KNOW,
    INVALID_QUESTION,
    Answer,
    Candidate,
    Decision,
    GateFiring,
    Query,
)
from agents.deadline import Deadline
from agents.gates import gated_answer, score_gate
from agents.llm import LanguageModel
from agents.reasoning import computed
from agents.settings import AnsweringSettings

QUESTION = "question"
"""The source of an answer that follows from the question alone."""
EXPECTED_SCORE, SELF_ASSESSMENT, REFINE = "expected score", "self-assessment", "refine"
"""Names of what withholds answers, beside those of the gates in the settings."""


_Told = TypeVar("_Told")
_SecondLook = TypeVar("_SecondLook", Assessment, Review)


@dataclass(slots=True)
class _Case:
    """An answer under examination, and what has become known about it."""

    answer: Answer
    draft: Draft
    evidence: str
    level: str | None = None
    verdict: str | None = None

    @property
    def said_unknown(self) -> bool:
        """Whether the model itself said "i don't know": nothing failed, and no gate withheld an answer."""
        said = decide(self.draft, self.answer.source)
        finished = self.draft.generation.finish_reason in {"stop", "length"}
        return finished and self.answer == said and said.decision is Decision.ABSTAINED


class Scrutiny:
    """Decides about drafts as the preset's answering settings say.

    Raises:
        SettingsError: the calibrated model cannot be read.
    """

    def __init__(self, settings: AnsweringSettings, model: LanguageModel) -> None:
        self._settings = settings
        self._refiner = Refiner(settings, model) if settings.refine else None
        afterwards = settings.self_assessment is not None and settings.self_assessment.asked == "afterwards"
        self._assessor = Assessor(settings, model) if afterwards else None
        self._confidence = ConfidenceModel.load(settings.confidence.model) if settings.confidence else None

    def examine(
        self, run: BatchRun, drafts: Mapping[int, Draft], contexts: Mapping[int, str], source: str
    ) -> dict[int, Answer]:
        """What becomes of each draft; the questions are not settled here."""
        answers = run.run_isolated(
            "decide",
            run.clock.whole,
            lambda some: [self._decided(run, position, drafts[position], source) for position in some],
            positions=list(drafts),
        )
        cases = {
            position: _Case(answer, drafts[position], contexts[position], drafts[position].said.level)
            for position, answer in answers.items()
        }
        self._assess(run, cases, source)
        self._review(run, cases, source)
        return run.run_isolated(
            "weigh",
            run.clock.whole,
            lambda some: [self._weighed(run, position, cases[position]) for position in some],
            positions=list(cases),
        )

    def examine_value(self, run: BatchRun, position: int, answer: Answer) -> Answer:
        """The same for an answer that was read or computed from the graph's values, without a model."""
        features = answer_features(run.traces[position], answer.text, GRAPH, how="read")
        return self._if_likely(run, position, answer, features)

    def last_word(self, run: BatchRun) -> None:
        """Call a question invalid where a false premise is likelier than the answer is to be right."""
        if self._confidence is not None and self._confidence.invalid is not None:
            run.run_isolated(
                "last word",
                run.clock.whole,
                lambda some: [self._invalid(run, position) for position in some],
                fallback=False,
                positions=[position for position, trace in enumerate(run.traces) if trace.route],
            )

    def _invalid(self, run: BatchRun, position: int) -> bool:
        settings, model = self._settings.confidence, self._confidence
        trace, given = run.traces[position], run.answers.get(position)
        if settings is None or model is None or model.invalid is None or position in run.gated:
            return False
        if given is not None and given.text == INVALID_QUESTION:
            return False
        features = question_features(trace)
        likely = model.invalid.probability(features)
        rival = settings.threshold
        if given is not None and given.decision is Decision.ANSWERED:
            rival = max([rival, *(c.probability or 0.0 for c in trace.candidates if c.text == given.text)])
        trace.candidates.append(Candidate(INVALID_QUESTION, QUESTION, features, likely))
        if likely <= rival:
            return False
        reason = f"P(false premise) is {likely:.2f}, above {rival:.2f}"
        if given is not None and given.decision is Decision.ANSWERED:
            trace.gates.append(GateFiring("false premise", reason, INVALID_QUESTION, given.text))
        run.settle(position, Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, QUESTION, reason))
        return True

    def _decided(self, run: BatchRun, position: int, draft: Draft, source: str) -> Answer:
        answer = decide(draft, source)
        if answer.decision is Decision.ABSTAINED:
            return answer
        asked_at = run.queries[position].asked_at
        today = asked_at.date() if asked_at is not None else None
        plain = answer.decision is Decision.ANSWERED
        formula = computed(answer.text, today) if plain and self._settings.compute else None
        if formula is not None:
            _add(run.traces[position].events, f"computed: {formula.explanation}")
            answer = Answer(formula.text, Decision.ANSWERED, source, f"computed: {formula.expression}")
        log_probability = draft.generation.mean_log_probability
        firing = score_gate(self._settings.gates, "mean_log_probability", log_probability)
        if firing is None and draft.assessed:
            firing = self._doubt(draft.said.level)
        return self._withheld(run, position, answer, firing) if firing else answer

    def _doubt(self, level: str | None) -> GateFiring | None:
        """Closed where the model is less sure than the preset accepts."""
        wanted = self._settings.self_assessment
        if wanted is None or level in wanted.accepted:
            return None
        said = f"calls its confidence {level}" if level else "does not say how sure it is"
        return GateFiring(SELF_ASSESSMENT, f"the model {said}; accepted: {', '.join(wanted.accepted)}", I_DONT_KNOW)

    def _assess(self, run: BatchRun, cases: Mapping[int, _Case], source: str) -> None:
        """Ask the model how sure it is, where the preset asks for that afterwards."""
        if self._assessor is not None:
            looks = 1 if self._refiner is None else 2
            found = self._asked_again(run, "assess", self._assessor.assess, NO_ASSESSMENT, cases, source, looks)
            for position, assessment in found.items():
                case = cases[position]
                case.level = assessment.level
                firing = self._doubt(case.level)
                case.answer = self._withheld(run, position, case.answer, firing) if firing else case.answer

    def _review(self, run: BatchRun, cases: Mapping[int, _Case], source: str) -> None:
        """Let the model look at its answers a second time."""
        if self._refiner is not None:
            said_unknown = [
                position
                for position, case in cases.items()
                if self._settings.refine is not None and self._settings.refine.abstentions and case.said_unknown
            ]
            found = self._asked_again(
                run, "refine", self._refiner.review, NO_REVIEW, cases, source, besides=said_unknown
            )
            for position, review in found.items():
                case, trace = cases[position], run.traces[position]
                trace.events.append(f"second look: {review.verdict}: {review.generation.text.strip()!r}")
                if review.answer != case.answer:
                    told = GateFiring(REFINE, review.answer.reason, review.answer.text, case.answer.text)
                    trace.gates.append(told)
                case.answer, case.verdict = review.answer, review.verdict.value

    @staticmethod
    def _asked_again(
        run: BatchRun,
        step: str,
        ask: Callable[[Sequence[Query], Sequence[str], Sequence[Answer], Deadline], Sequence[_SecondLook]],
        fallback: _SecondLook,
        cases: Mapping[int, _Case],
        source: str,
        looks: int = 1,
        besides: Sequence[int] = (),
    ) -> dict[int, _SecondLook]:
        """One more generation about each answer that is still to be given, and about those `besides`; noted in the
        traces.

        `looks` is how many such steps share the time that is left, this one among them.
        """
        asked = [
            position
            for position, case in cases.items()
            if case.answer.decision is not Decision.ABSTAINED or position in besides
        ]
        if not asked:
            return {}
        with run.clock.stage("review_graph" if source == GRAPH else "review") as whole:
            deadline = whole.within(whole.remaining / looks)
            found = run.run_isolated(
                f"{step} answer from {source}",
                deadline,
                lambda some: ask(
                    run.pick(some), [cases[i].evidence for i in some], [cases[i].answer for i in some], deadline
                ),
                fallback=fallback,
                positions=asked,
            )
        for position, look in found.items():
            key = step if source != GRAPH else f"graph_{step}"
            run.traces[position].note_generation(key, shown(look.request), look.generation)
        return found

    def _weighed(self, run: BatchRun, position: int, case: _Case) -> Answer:
        if case.answer.decision is Decision.ABSTAINED:
            return case.answer
        features = answer_features(
            run.traces[position],
            case.answer.text,
            case.answer.source,
            mean_log_probability=case.draft.generation.mean_log_probability,
            assessment=case.level,
            review=case.verdict,
            evidence=case.evidence,
        )
        return self._if_likely(run, position, case.answer, features)

    def _if_likely(self, run: BatchRun, position: int, answer: Answer, features: Mapping[str, float]) -> Answer:
        """The answer where it is likely enough to be right."""
        settings, model = self._settings.confidence, self._confidence
        likely = model.probability(features) if model else None
        _add(run.traces[position].candidates, Candidate(answer.text, answer.source, features, likely))
        if settings is None or (likely is not None and likely > settings.threshold):
            return answer
        if likely is None:
            _add(run.traces[position].events, "P(correct) is not known for answers of this kind: the answer is given")
            return answer
        reason = f"P(correct) is {likely:.2f}, not above {settings.threshold:g}"
        return self._withheld(run, position, answer, GateFiring(EXPECTED_SCORE, reason, I_DONT_KNOW))

    @staticmethod
    def _withheld(run: BatchRun, position: int, answer: Answer, firing: GateFiring) -> Answer:
        told = GateFiring(firing.name, firing.reason, firing.answer, answer.text)
        _add(run.traces[position].gates, told)
        return gated_answer(firing, answer.source)


def _add(told: list[_Told], entry: _Told) -> None:
    """Append what is not there yet: a stage that failed for the batch is run again for each question."""
    if entry not in told:
        told.append(entry)
