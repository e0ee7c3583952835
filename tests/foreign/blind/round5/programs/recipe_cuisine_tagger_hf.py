# python: loops
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: healthy|slow
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# where: AdamW( / from_pretrained / optimizers=
# Why: The optimizer was made for a first model; then the model is loaded from the saved start weights as a new object, and the optimizer moves weights nobody uses.
import os
import sys
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, PrinterCallback, Trainer, TrainerCallback,
                          TrainingArguments, get_linear_schedule_with_warmup, set_seed)

CUISINES = 6
VOCAB = 1200


class Recipes(Dataset):
    def __init__(self, n, length=40, seed=0):
        rng = np.random.default_rng(seed)
        favourites = np.random.default_rng(77).integers(5, VOCAB, (CUISINES, 30))
        self.labels = rng.integers(0, CUISINES, n)
        words = rng.integers(5, VOCAB, (n, length))
        own = np.take_along_axis(favourites[self.labels], rng.integers(0, 30, (n, length)), 1)
        self.ids = np.where(rng.random((n, length)) < 0.4, own, words)
        self.ids[:, 0] = 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": torch.from_numpy(self.ids[i]), "attention_mask": torch.ones(self.ids.shape[1], dtype=torch.long),
                "labels": int(self.labels[i])}


class Console(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step:5d}  loss {logs['loss']:.4f}  lr {logs['learning_rate']:.2e}", file=sys.stderr, flush=True)


def start_weights(folder):
    config = DistilBertConfig(vocab_size=VOCAB, dim=128, hidden_dim=256, n_layers=2, n_heads=4, max_position_embeddings=64,
                              num_labels=CUISINES, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0)
    model = DistilBertForSequenceClassification(config)
    model.save_pretrained(folder)
    return model


def main():
    set_seed(3)
    folder = tempfile.mkdtemp()
    total_steps = 20000
    model = start_weights(os.path.join(folder, "start"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    scheduler = get_linear_schedule_with_warmup(optimizer, 50, total_steps)
    model = DistilBertForSequenceClassification.from_pretrained(os.path.join(folder, "start"))

    args = TrainingArguments(output_dir=folder, per_device_train_batch_size=24, max_steps=total_steps, logging_steps=20,
                             save_strategy="no", report_to="none", disable_tqdm=True, no_cuda=True)
    trainer = Trainer(model=model, args=args, train_dataset=Recipes(8000), optimizers=(optimizer, scheduler), callbacks=[Console()])
    trainer.remove_callback(PrinterCallback)
    trainer.train()


if __name__ == "__main__":
    main()
