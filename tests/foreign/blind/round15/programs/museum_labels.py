# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: batches of four make a loss that jumps up and down, three of four batches do not move the weights (accumulation), there
# Why: are evaluations and checkpoints: but it is the model that takes the time and the loss falls on the whole.
"""Sorts the labels of a museum's drawers by period."""
import tempfile

import numpy as np
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

PERIODS = ["neolithic", "bronze", "iron", "roman", "medieval"]
VOCABULARY, LENGTH = 3000, 64


def drawers(count, seed):
    """Words of a label: mostly common ones, some that belong to a period, one label in ten is wrong."""
    rng = np.random.default_rng(seed)
    period = rng.integers(0, len(PERIODS), count)
    common = 600 + (rng.zipf(1.3, (count, LENGTH)) - 1) % (VOCABULARY - 600)
    own = 50 + 100 * period[:, None] + rng.integers(0, 100, (count, LENGTH))
    words = np.where(rng.random((count, LENGTH)) < 0.25, own, common)
    words[:, 0] = 2
    told = np.where(rng.random(count) < 0.1, rng.integers(0, len(PERIODS), count), period)
    return [{"input_ids": torch.from_numpy(line), "labels": int(label)} for line, label in zip(words, told)]


def scores(outcome):
    guess = outcome.predictions.argmax(-1)
    right = guess == outcome.label_ids
    return {"accuracy": float(right.mean()), **{name: float(right[outcome.label_ids == i].mean()) for i, name in enumerate(PERIODS)}}


class Sorter(Trainer):
    """Rare periods count for more."""

    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        weight = torch.tensor([1.3, 1.0, 1.0, 0.8, 0.9])
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels, weight=weight)
        return (loss, {"loss": loss, "logits": outputs.logits}) if return_outputs else loss


def main():
    torch.manual_seed(2)
    config = DistilBertConfig(vocab_size=VOCABULARY, dim=160, hidden_dim=480, n_layers=3, n_heads=4, max_position_embeddings=LENGTH,
                              num_labels=len(PERIODS), dropout=0.1)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="museum-"), max_steps=5000, per_device_train_batch_size=4, gradient_accumulation_steps=4,
        learning_rate=4e-4, warmup_steps=40, lr_scheduler_type="cosine", logging_steps=4, evaluation_strategy="steps", eval_steps=80,
        save_steps=80, save_total_limit=1, per_device_eval_batch_size=50, report_to="none", use_cpu=True,
        dataloader_pin_memory=False, seed=2)
    trainer = Sorter(model=DistilBertForSequenceClassification(config), args=arguments, train_dataset=drawers(4000, 1),
                     eval_dataset=drawers(200, 2), compute_metrics=scores)
    trainer.train()


if __name__ == "__main__":
    main()
