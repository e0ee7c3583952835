# python: loops
# expected: slow-callback [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: np.percentile / np.histogram / on_step_end
# Why: after every step a TrainerCallback takes histograms and percentiles of all weights and writes them to a file.
import json
import os
import tempfile

import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments, set_seed)

QUEUES = ["billing", "outage", "contract", "hardware", "complaint", "other"]


class Tickets(torch.utils.data.Dataset):
    """Already tokenised support tickets, 48 tokens each."""

    def __init__(self, n=6000, length=48, vocab=9000, seed=5):
        gen = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, len(QUEUES), (n,), generator=gen)
        self.ids = torch.randint(300, vocab, (n, length), generator=gen)
        topic = torch.randint(0, 40, (n, length), generator=gen) + self.labels[:, None] * 40 + 10
        use = torch.rand(n, length, generator=gen) < 0.25
        self.ids = torch.where(use, topic, self.ids)
        self.mask = torch.ones(length, dtype=torch.long)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": self.mask, "labels": self.labels[i]}


class WeightReport(TrainerCallback):
    def __init__(self, path):
        self.path = path

    def on_step_end(self, args, state, control, model=None, **kwargs):
        rows = []
        for name, p in model.named_parameters():
            w = p.detach().numpy().ravel()
            counts, edges = np.histogram(w, bins=64)
            low, mid, high = np.percentile(w, [1, 50, 99])
            rows.append({"name": name, "counts": counts.tolist(), "edges": edges.tolist(),
                         "p1": float(low), "p50": float(mid), "p99": float(high)})
        with open(self.path, "w") as f:
            json.dump({"step": state.global_step, "weights": rows}, f)


def main():
    set_seed(5)
    out = tempfile.mkdtemp(prefix="tickets_")
    config = DistilBertConfig(vocab_size=9000, max_position_embeddings=64, dim=192, n_heads=4, n_layers=2, hidden_dim=512,
                              num_labels=len(QUEUES))
    model = DistilBertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir=out,
        per_device_train_batch_size=8,
        learning_rate=3e-4,
        num_train_epochs=500,
        logging_steps=25,
        save_strategy="no",
        report_to=[],
        optim="adamw_torch",
    )
    trainer = Trainer(model=model, args=args, train_dataset=Tickets(),
                      callbacks=[WeightReport(os.path.join(out, "weights.json"))])
    trainer.train()


if __name__ == "__main__":
    main()
