"""Projecting the answers' tokens alone gives what trl's projection of every token gives."""

from pathlib import Path

import torch
from trl.trainer.utils import add_fused_lm_head

from tests.training.lora.toy import toy_settings
from training.lora.model import load_tunable
from training.lora.run import score_answers_only
from training.lora.tokens import IGNORED

INPUTS = torch.tensor([[5, 6, 7, 8, 9, 10], [11, 12, 13, 14, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
LABELS = torch.tensor([[IGNORED, IGNORED, IGNORED, 8, 9, 10], [IGNORED, 12, 13, 14, IGNORED, IGNORED]])


def test_log_probabilities_and_gradients_are_those_of_trl(tiny_llama: Path) -> None:
    found = []
    for own in (False, True):
        model = load_tunable(toy_settings(tiny_llama), tiny_llama, "cpu").eval()
        add_fused_lm_head(model.get_base_model())
        if own:
            score_answers_only(model.get_base_model())
        output = model(input_ids=INPUTS, attention_mask=MASK, labels=LABELS, fused_lm_head=True)
        (output.log_probs * torch.arange(1, 6)).sum().backward()
        gradients = [weight.grad for weight in model.parameters() if weight.requires_grad]
        found.append((output.log_probs, output.label_mask, gradients))
    (theirs, their_mask, their_gradients), (ours, our_mask, our_gradients) = found
    torch.testing.assert_close(ours, theirs)
    assert torch.equal(our_mask, their_mask)
    assert our_mask.sum() == 6
    torch.testing.assert_close(our_gradients, their_gradients, atol=1e-4, rtol=1e-4)
