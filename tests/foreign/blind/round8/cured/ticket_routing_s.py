# python: loops
# expected: learning-rate [also accepted: loss-oscillates]
# verdict: healthy|slow
# seconds: 30
# where: learning_rate=
# Why: The rate 1.0 was taken over from a run with Adadelta: AdamW throws the weights about, the loss jumps far above ln(8) and never comes down.
import sys
import tempfile

import numpy as np
import torch
from transformers import (BertConfig, BertForSequenceClassification, PrinterCallback, Trainer,
                          TrainerCallback, TrainingArguments, set_seed)

TEAMS = ["billing", "login", "network", "hardware", "licences", "printing", "phones", "other"]


class PrintLog(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step}: loss={logs['loss']:.4f} lr={logs['learning_rate']:.2g}")
            sys.stdout.flush()


class Tickets(torch.utils.data.Dataset):
    def __init__(self, n=3000, length=24, vocab=800):
        rng = np.random.default_rng(17)
        self.y = rng.integers(0, len(TEAMS), n)
        self.x = rng.integers(100, vocab, (n, length))
        # a few words of each ticket come from the team's own vocabulary
        own = rng.random((n, length)) < 0.4
        self.x[own] = (self.y[:, None] * 12 + rng.integers(0, 12, (n, length)))[own]
        self.x = torch.from_numpy(self.x)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "attention_mask": torch.ones_like(self.x[i]), "labels": int(self.y[i])}


def build_model():
    config = BertConfig(vocab_size=800, hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=64, num_labels=len(TEAMS),
                        hidden_dropout_prob=0.0, initializer_range=0.08)
    return BertForSequenceClassification(config)


def main():
    set_seed(3)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="tickets"),
        num_train_epochs=200,
        per_device_train_batch_size=32,
        learning_rate=1e-3,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=20,
        logging_steps=10,
        disable_tqdm=True,
        save_strategy="no",
        report_to=[],
        no_cuda=True,
    )
    trainer = Trainer(build_model(), arguments, train_dataset=Tickets(), callbacks=[PrintLog()])
    trainer.remove_callback(PrinterCallback)
    trainer.train()


if __name__ == "__main__":
    main()
