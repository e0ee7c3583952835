# python: loops
"""Tell the metre of a line of verse from its stresses (Hugging Face Trainer, BERT from a config)."""
import os
import tempfile
import warnings

import numpy as np
import torch
from torch.utils.data import Dataset

warnings.filterwarnings("ignore")
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments,
                          get_linear_schedule_with_warmup)

METRES = ["iamb", "trochee", "anapaest", "dactyl", "amphibrach"]
FEET = {"iamb": [0, 1], "trochee": [1, 0], "anapaest": [0, 0, 1], "dactyl": [1, 0, 0], "amphibrach": [0, 1, 0]}
WEAK, STRONG = list(range(3, 60)), list(range(60, 117))


class Verses(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            label = int(rng.integers(len(METRES)))
            stresses = (FEET[METRES[label]] * 16)[:24]
            ids = [1]
            for s in stresses:
                if rng.random() < 0.04:
                    s = 1 - s
                ids.append(int(rng.choice(STRONG if s else WEAK)))
            self.rows.append({"input_ids": torch.tensor(ids + [2]), "labels": torch.tensor(label)})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def build(lr, total_steps):
    config = BertConfig(vocab_size=117, hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=192, max_position_embeddings=32, num_labels=len(METRES))
    model = BertForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    schedule = get_linear_schedule_with_warmup(optimizer, 20, total_steps)
    return model, optimizer, schedule


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f} lr {logs['learning_rate']:.2e}", flush=True)


def main():
    folder = tempfile.mkdtemp(prefix="verse_")
    start = os.path.join(folder, "start")
    torch.manual_seed(11)
    model, optimizer, schedule = build(lr=1e-3, total_steps=40000)
    if not os.path.isdir(start):
        model.save_pretrained(start)  # every run of the comparison begins at the same weights
    model.load_state_dict(BertForSequenceClassification.from_pretrained(start).state_dict())
    args = TrainingArguments(output_dir=folder, per_device_train_batch_size=24, max_steps=40000, logging_steps=5,
                             save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=Verses(4000, 3), optimizers=(optimizer, schedule),
                      callbacks=[Report()])
    trainer.train()


if __name__ == "__main__":
    main()
