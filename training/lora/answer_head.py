"""On a CPU, trl projects every position onto the vocabulary, the prompt's too; here only what is learnt is projected.

With 152,000 words and answers of a tenth of the tokens, the projection would cost more than all layers below it.
"""

import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel
    from trl.trainer.utils import FusedCausalLMOutput

IGNORED = -100
"""Label of a token that is read and not learnt."""


def score_answers_only(model: "PreTrainedModel") -> None:
    """Replace what a trainer of trl made of the model's forward pass, when it is called with ``fused_lm_head=True``.

    The log-probabilities are the same. Entropy and the other figures that trl computes beside them are left at 0.
    """
    before = model.forward

    def forward(
        self: "PreTrainedModel",
        *arguments: object,
        fused_lm_head: bool = False,
        labels: "Tensor | None" = None,
        **keywords: object,
    ) -> object:
        if fused_lm_head and labels is not None:
            keywords.pop("num_items_in_batch", None)
            return _score(self, labels, arguments, keywords | {"use_cache": False})
        return before(*arguments, **keywords, **({} if labels is None else {"labels": labels}))

    model.forward = types.MethodType(forward, model)


def _score(
    model: "PreTrainedModel", labels: "Tensor", arguments: tuple[object, ...], keywords: dict[str, object]
) -> "FusedCausalLMOutput":
    from torch.nn import functional
    from trl.trainer.utils import FusedCausalLMOutput

    # A token is predicted at the position before it.
    hidden = model.base_model(*arguments, **keywords).last_hidden_state[:, :-1]
    wanted = labels[:, 1:]
    mask = wanted != IGNORED
    logits = model.get_output_embeddings()(hidden[mask]).float()
    found = -functional.cross_entropy(logits, wanted[mask], reduction="none")
    nothing = found.new_zeros(mask.shape)
    return FusedCausalLMOutput(
        log_probs=nothing.masked_scatter(mask, found),
        entropy=nothing,
        mean_logits=nothing,
        is_top1=nothing.bool(),
        label_mask=mask,
    )
