"""The gates of a preset, which are data: whether one keeps an answer from being given, and why (NEC 2.1, 3.3.2)."""

from collections.abc import Sequence

from agents.contracts import I_DONT_KNOW, INVALID_QUESTION, Answer, Decision, GateFiring, Route, label, probability
from agents.settings import ClassGate, GateSettings, ScoreGate


def class_gate(gates: Sequence[GateSettings], route: Route | None, source: str) -> GateFiring | None:
    """The first gate of that `source` (``any`` or ``web``) that closes for the question's classes."""
    for gate in gates:
        if isinstance(gate, ClassGate) and gate.source == source:
            reason = _class_reason(gate, route)
            if reason is not None:
                return GateFiring(gate.name, reason, gate.answer)
    return None


def score_gate(gates: Sequence[GateSettings], score: str, value: float | None) -> GateFiring | None:
    """The first gate on that score that closes. Without a number (nothing was scored in time) it closes."""
    for gate in gates:
        if isinstance(gate, ScoreGate) and gate.score == score and (value is None or value <= gate.minimum):
            found = "there is no number" if value is None else f"it is {value:.2f}"
            reason = f"{score} must be above {gate.minimum:g}, and {found}"
            return GateFiring(gate.name, reason, I_DONT_KNOW)
    return None


def gated_answer(firing: GateFiring, source: str) -> Answer:
    """What is answered where a gate closed."""
    invalid = firing.answer == INVALID_QUESTION
    decision = Decision.INVALID_QUESTION if invalid else Decision.ABSTAINED
    return Answer(firing.answer, decision, source, f"gate {firing.name}: {firing.reason}")


def _class_reason(gate: ClassGate, route: Route | None) -> str | None:
    """Why the gate closes, or None. A question of which nothing is known passes."""
    if gate.above is None:
        likeliest = label(route, gate.field)
        return f"the router takes the {gate.field} for {likeliest}" if likeliest in gate.classes else None
    share = probability(route, gate.field, gate.classes)
    if share is None or share <= gate.above:
        return None
    return f"P({gate.field} is {' or '.join(gate.classes)}) is {share:.2f}, above {gate.above:g}"
