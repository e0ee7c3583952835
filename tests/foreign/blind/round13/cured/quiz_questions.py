# python: loops
# expected: garbage-collection [also accepted: slow-callback]
# verdict: slow
# seconds: 30
# where: gc.collect()
# Why: a callback asks for a full garbage collection after every step, and each one walks through the hundred
# thousands of lists and dicts of the tokenised questions; without it a step takes a fraction of the time.
"""Sorts quiz questions by topic with a small BERT made from a config, trained by the Hugging Face Trainer."""
import os
import random
import sys
import tempfile

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

TOPICS = ["history", "science", "sports", "music", "geography", "film"]
PAD, CLS, SEP = 0, 1, 2
SHARED = 900
SPECIAL = 120
VOCAB = 3 + SHARED + SPECIAL * len(TOPICS)


def ask(rng, topic):
    words = []
    for _ in range(rng.randint(10, 22)):
        if rng.random() < 0.4:
            owner = topic if rng.random() < 0.75 else rng.randrange(len(TOPICS))
            words.append(3 + SHARED + owner * SPECIAL + int(SPECIAL * rng.random() ** 2))
        else:
            words.append(3 + int(SHARED * rng.random() ** 2))
    return [CLS] + words + [SEP]


class QuizDataset(torch.utils.data.Dataset):
    def __init__(self, count, seed):
        rng = random.Random(seed)
        self.items = []
        for _ in range(count):
            topic = rng.randrange(len(TOPICS))
            ids = ask(rng, topic)
            self.items.append({"input_ids": ids, "attention_mask": [1] * len(ids), "labels": topic})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(items):
    width = 24
    batch = {"labels": torch.tensor([item["labels"] for item in items])}
    for name in ("input_ids", "attention_mask"):
        batch[name] = torch.tensor([item[name] + [0] * (width - len(item[name])) for item in items])
    return batch


class Housekeeping(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f} lr {logs['learning_rate']:.2e}", flush=True)


def main():
    set_seed(13)
    questions = QuizDataset(100_000, seed=1)
    print(len(questions), "questions in", len(TOPICS), "topics", file=sys.stderr)
    config = BertConfig(
        vocab_size=VOCAB,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=32,
        num_labels=len(TOPICS),
    )
    args = TrainingArguments(
        output_dir=os.path.join(tempfile.gettempdir(), "quiz_questions"),
        per_device_train_batch_size=48,
        num_train_epochs=4,
        learning_rate=1e-3,
        warmup_steps=10,
        logging_steps=10,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    model = BertForSequenceClassification(config)
    trainer = Trainer(
        model=model, args=args, train_dataset=questions, data_collator=collate, callbacks=[Housekeeping()]
    )
    trainer.train()


if __name__ == "__main__":
    main()
