# python: loops
# expected: waits-for-file-lock
# verdict: stuck
# seconds: 35
# where: fcntl.flock(file, fcntl.LOCK_EX)
# Why: the run holds the lock on the table of scores while it trains, and the callback behind the first evaluation opens the
# same file once more and waits for that lock for ever.
"""Stars for spices: a small DistilBERT reads made-up reviews; runs on one machine share a table of their scores."""
import contextlib
import fcntl
import json
import pathlib
import random
import tempfile

import numpy as np
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

WORDS, LENGTH, STARS = 600, 32, 3


@contextlib.contextmanager
def table_of_scores(path):
    """The scores of all runs; what is changed inside is written back."""
    path.touch()
    with open(path, "r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        scores = json.loads(file.read() or "{}")
        yield scores
        file.seek(0)
        file.truncate()
        json.dump(scores, file, indent=1)


def draw_reviews(count, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        stars = rng.randrange(STARS)
        words = [rng.randrange(10, WORDS) if rng.random() < 0.7 else 10 + stars * 60 + rng.randrange(60) for _ in range(LENGTH - 1)]
        out.append({"input_ids": torch.tensor([1, *words]), "attention_mask": torch.ones(LENGTH, dtype=torch.long), "labels": stars})
    return out


class Scoreboard(TrainerCallback):
    def __init__(self, path, run):
        self.path, self.run = path, run

    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f}", flush=True)

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"evaluation at step {state.global_step}: accuracy {metrics['eval_accuracy']:.3f}", flush=True)
        with table_of_scores(self.path) as scores:
            scores[self.run] = max(scores.get(self.run, 0), metrics["eval_accuracy"])


def accuracy(prediction):
    return {"accuracy": float(np.mean(prediction.predictions.argmax(-1) == prediction.label_ids))}


def main():
    torch.manual_seed(3)
    config = DistilBertConfig(vocab_size=WORDS, max_position_embeddings=LENGTH, dim=64, n_layers=2, n_heads=4, hidden_dim=192,
                              num_labels=STARS)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "scores.json")
        settings = TrainingArguments(folder, per_device_train_batch_size=16, learning_rate=4e-4, max_steps=20_000, logging_steps=5,
                                     evaluation_strategy="steps", eval_steps=15, save_strategy="no", report_to=[], disable_tqdm=True)
        trainer = Trainer(DistilBertForSequenceClassification(config), settings, train_dataset=draw_reviews(4000, 1),
                          eval_dataset=draw_reviews(96, 2), compute_metrics=accuracy, callbacks=[Scoreboard(path, "distil-3")])
        with table_of_scores(path) as scores:
            print("best so far:", max(scores.values(), default="none"))
            trainer.train()
            scores["distil-3"] = trainer.evaluate()["eval_accuracy"]


if __name__ == "__main__":
    main()
