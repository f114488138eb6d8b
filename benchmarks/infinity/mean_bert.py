"""The shipped encoder and document head as a class of transformers: copied into the folder that Infinity serves.

Infinity imports it through `auto_map`; nothing of the house is imported here, since Infinity's virtual environment has
only Infinity.
"""

import torch
from torch import nn
from transformers import BertConfig, BertModel, BertPreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput


class MeanBertForSequenceClassification(BertPreTrainedModel):  # type: ignore[no-untyped-call]
    """BERT without a pooler; the mean over real tokens goes through one linear layer to a logit a class."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.head = nn.Linear(config.hidden_size, config.num_labels or 1)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_others: object
    ) -> SequenceClassifierOutput:
        """input_ids, attention_mask: (B, T).  logits: (B, classes)."""
        hidden = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state  # (B, T, H)
        weights = attention_mask.unsqueeze(-1).to(hidden.dtype)  # (B, T, 1)
        return SequenceClassifierOutput(logits=self.head((hidden * weights).sum(1) / weights.sum(1)))
