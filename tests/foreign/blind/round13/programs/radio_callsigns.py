# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: nothing is wrong. Gradients of two batches are added up, the rate warms up so that the loss hardly moves at
# first, every 150 steps a small evaluation and a checkpoint (one is kept): together a few percent of the time.
"""Finds call signs, names and places in transcripts of radio traffic: token classification with the HF Trainer."""
from __future__ import annotations

import os
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainerCallback, TrainingArguments, set_seed

LABELS = ["O", "CALL", "NAME", "PLACE"]
WIDTH = 32
TALK = (4, 400)
STARTS, DIGITS, ENDS = (400, 430), (430, 440), (440, 500)
NAMES, PLACES, TRIGGERS = (500, 700), (650, 850), {2: 850, 3: 851}
VOCAB = 860


def pick(rng, span):
    low, high = span
    return low + int((high - low) * rng.random() ** 1.5)


def transcript(rng):
    words, tags = [], []
    while len(words) < WIDTH - 4:
        draw = rng.random()
        if draw < 0.12:
            words += [pick(rng, STARTS), pick(rng, DIGITS), pick(rng, ENDS)]
            tags += [1, 1, 1]
        elif draw < 0.3:
            kind = 2 if draw < 0.21 else 3
            words += [TRIGGERS[kind], pick(rng, NAMES if kind == 2 else PLACES)]
            tags += [0, kind]
        else:
            words.append(pick(rng, TALK) if rng.random() < 0.9 else pick(rng, ENDS))
            tags.append(0)
    keep = int(rng.integers(WIDTH // 2, WIDTH - 4))
    return words[:keep], tags[:keep]


class Transcripts(torch.utils.data.Dataset):
    def __init__(self, count: int, seed: int):
        rng = np.random.default_rng(seed)
        self.ids = torch.zeros(count, WIDTH, dtype=torch.long)
        self.mask = torch.zeros(count, WIDTH, dtype=torch.long)
        self.tags = torch.full((count, WIDTH), -100)
        for row in range(count):
            words, tags = transcript(rng)
            self.ids[row, : len(words)] = torch.tensor(words)
            self.mask[row, : len(words)] = 1
            self.tags[row, : len(words)] = torch.tensor(tags)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, row):
        return {"input_ids": self.ids[row], "attention_mask": self.mask[row], "labels": self.tags[row]}


def scores(prediction):
    guess, truth = prediction.predictions.argmax(-1), prediction.label_ids
    entity = truth > 0
    return {"entity_accuracy": float((guess == truth)[entity].mean())}


class Console(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f} rate {logs['learning_rate']:.1e}", flush=True)
        elif "eval_loss" in logs:
            print(f"evaluation: {logs['eval_loss']:.4f}, entities {logs['eval_entity_accuracy']:.3f}", flush=True)


if __name__ == "__main__":
    set_seed(6)
    train, check = Transcripts(8000, 1), Transcripts(192, 2)
    config = BertConfig(
        vocab_size=VOCAB,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=384,
        max_position_embeddings=WIDTH,
        num_labels=len(LABELS),
    )
    model = BertForTokenClassification(config)
    print(f"{len(train)} transcripts, {model.num_parameters():,} parameters", flush=True)
    args = TrainingArguments(
        output_dir=os.path.join(tempfile.gettempdir(), "radio_callsigns"),
        overwrite_output_dir=True,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=96,
        gradient_accumulation_steps=2,
        learning_rate=6e-4,
        warmup_steps=60,
        num_train_epochs=40,
        evaluation_strategy="steps",
        eval_steps=150,
        save_steps=150,
        save_total_limit=1,
        logging_steps=10,
        disable_tqdm=True,
        report_to="none",
    )
    trainer = Trainer(model, args, train_dataset=train, eval_dataset=check, compute_metrics=scores)
    trainer.add_callback(Console())
    trainer.train()
