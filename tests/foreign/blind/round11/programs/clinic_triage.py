# python: loops
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: slow
# seconds: 30
# where: torch.optim.AdamW(
# Why: the optimizer is built on the first model object; then the model is reloaded from the folder it was just saved to, and the Trainer
# trains the new object while the optimizer holds the old one's parameters. The loss stays where it began.
"""Triage notes -> urgency, a small BERT from scratch with two learning rates."""
import os
import sys
import tempfile

import numpy as np
import torch
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          get_linear_schedule_with_warmup, set_seed)

VOCAB, LENGTH, LEVELS = 400, 24, 4


class TriageNotes(torch.utils.data.Dataset):
    """Every urgency has words that are likelier in it; the rest is filler."""

    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, LEVELS, count)
        self.notes = rng.integers(100, VOCAB, (count, LENGTH))
        telling = rng.random((count, LENGTH)) < 0.4
        words = 10 + self.labels[:, None] * 20 + rng.integers(0, 20, (count, LENGTH))
        self.notes[telling] = words[telling]
        self.notes[:, 0] = 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {
            "input_ids": torch.as_tensor(self.notes[i]),
            "attention_mask": torch.ones(LENGTH, dtype=torch.long),
            "labels": int(self.labels[i]),
        }


def grouped_parameters(model, lr):
    head = [p for n, p in model.named_parameters() if n.startswith("classifier")]
    body = [p for n, p in model.named_parameters() if not n.startswith("classifier")]
    return [{"params": body, "lr": lr}, {"params": head, "lr": 3 * lr}]


def main():
    sys.stdout.reconfigure(line_buffering=True)
    set_seed(7)
    work = tempfile.mkdtemp(prefix="triage_")
    config = BertConfig(
        vocab_size=VOCAB, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192,
        max_position_embeddings=64, num_labels=LEVELS,
    )
    model = BertForSequenceClassification(config)
    epochs, batch = 30, 32
    train, test = TriageNotes(12000, 1), TriageNotes(320, 2)

    optimizer = torch.optim.AdamW(grouped_parameters(model, 1e-3), weight_decay=0.01)
    total = epochs * len(train) // batch
    schedule = get_linear_schedule_with_warmup(optimizer, 5, total)

    start = os.path.join(work, "start")
    model.save_pretrained(start)
    model = BertForSequenceClassification.from_pretrained(start)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters, {total} steps")

    args = TrainingArguments(
        output_dir=work, per_device_train_batch_size=batch, per_device_eval_batch_size=64, num_train_epochs=epochs,
        logging_steps=5, evaluation_strategy="steps", eval_steps=150, save_strategy="no", report_to=[],
        use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=train, eval_dataset=test, optimizers=(optimizer, schedule),
        compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
    )
    trainer.train()


if __name__ == "__main__":
    main()
