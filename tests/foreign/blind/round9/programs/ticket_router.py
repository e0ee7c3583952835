# python: loops
# expected: slow-callback
# verdict: slow
# seconds: 30
# where: torch.save
# Why: a callback of the Trainer writes weights and optimizer state to disk after every single step; it takes longer than the step.
"""Which team gets a support ticket: a small BERT, made from its config, on made-up tickets."""
import argparse
import logging
import os
import shutil
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("tickets")
TEAMS, VOCAB, LENGTH = 6, 24000, 16


class Tickets(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, TEAMS, n)
        words = rng.zipf(1.3, (n, LENGTH)) % (VOCAB - 200) + 200
        hints = 10 + self.labels[:, None] * 25 + rng.integers(0, 25, (n, LENGTH))
        self.ids = np.where(rng.random((n, LENGTH)) < 0.35, hints, words).astype(np.int64)
        self.ids[:, 0] = 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": torch.from_numpy(self.ids[i]), "labels": int(self.labels[i])}


class Resumable(TrainerCallback):
    """The machines are taken away without warning: keep the newest state on disk."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "newest.pt")

    def on_step_end(self, args, state, control, model=None, optimizer=None, lr_scheduler=None, **kwargs):
        torch.save({"step": state.global_step, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "schedule": lr_scheduler.state_dict()}, self.path + ".part")
        os.replace(self.path + ".part", self.path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tickets", type=int, default=30000)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=8)
    args = p.parse_args()

    torch.manual_seed(0)
    config = BertConfig(vocab_size=VOCAB, hidden_size=192, num_hidden_layers=2, num_attention_heads=4, intermediate_size=384,
                        max_position_embeddings=LENGTH, num_labels=TEAMS, hidden_dropout_prob=0.1)
    model = BertForSequenceClassification(config)
    log.info("%.1f million weights", sum(w.numel() for w in model.parameters()) / 1e6)
    folder = tempfile.mkdtemp(prefix="tickets-")
    try:
        settings = TrainingArguments(folder, per_device_train_batch_size=args.batch, num_train_epochs=args.epochs, learning_rate=5e-4,
                                     warmup_steps=10, logging_steps=10, save_strategy="no", report_to=[], no_cuda=True)
        trainer = Trainer(model, settings, train_dataset=Tickets(args.tickets, 1), callbacks=[Resumable(folder)])
        trainer.train()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
