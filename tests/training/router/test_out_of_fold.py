"""Mixing weights of a fold come from the other folds."""

import numpy as np

from agents.questions.calibration import log_softmax
from training.router.examples import Examples
from training.router.out_of_fold import OutOfFold


def test_a_fold_does_not_see_its_own_answers() -> None:
    """Fold 0 is sure and always wrong; the others are sure and always right: fold 0 is judged with full confidence."""
    count = 90
    fold = np.arange(count) % 3
    classes = np.arange(count) // 3 % 5
    right = 6.0 * np.eye(5)[classes]
    wrong = 6.0 * np.eye(5)[(classes + 1) % 5]
    found = OutOfFold(fold)
    for number in range(3):
        logits = wrong if number == 0 else right
        found.put(number, "encoder", "domain", log_softmax(logits[fold == number]))
    examples = Examples(("",) * count, ("?",) * count, {"domain": classes})
    probabilities = found.probabilities(examples)["domain"]
    assert probabilities[fold == 0].max(axis=1).min() > 0.99
    assert probabilities[fold == 1].max(axis=1).max() < 0.9, "their weights know that fold 0 was wrong"
    assert found.weights("domain", classes).ngrams == 0.0
