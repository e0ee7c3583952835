# python: loops
# expected: thread-oversubscription
# verdict: slow
# seconds: 30
# where: set_num_threads
# Why: the number of threads comes from the big server the script was written on: 48 threads take turns on two cores and meet
# Why: at the end of every operation.
"""Which desk should a support ticket go to?"""
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

WORKER = {"threads": 48, "batch": 32, "seed": 21}
DESKS, WORDS, LENGTH = 8, 2000, 40


class Tickets(torch.utils.data.Dataset):
    """Each desk has some words that its tickets are likely to have; some tickets went to the wrong desk."""

    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.desk = rng.integers(0, DESKS, count)
        self.words = rng.integers(1000, WORDS, (count, LENGTH))
        topical = rng.random((count, LENGTH)) < 0.2
        topic = 100 + 100 * self.desk[:, None] + rng.integers(0, 100, (count, LENGTH))
        self.words[topical] = topic[topical]
        self.words[:, 0] = 1
        self.length = rng.integers(LENGTH // 2, LENGTH + 1, count)
        self.desk = np.where(rng.random(count) < 0.05, rng.integers(0, DESKS, count), self.desk)

    def __len__(self):
        return len(self.desk)

    def __getitem__(self, index):
        mask = (np.arange(LENGTH) < self.length[index]).astype(np.int64)
        return {"input_ids": torch.from_numpy(self.words[index] * mask), "attention_mask": torch.from_numpy(mask),
                "labels": int(self.desk[index])}


def accuracy(outcome):
    return {"accuracy": float((outcome.predictions.argmax(-1) == outcome.label_ids).mean())}


def main():
    torch.set_num_threads(WORKER["threads"])
    config = BertConfig(vocab_size=WORDS, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512,
                        max_position_embeddings=64, num_labels=DESKS)
    model = BertForSequenceClassification(config)
    print(f"{sum(p.numel() for p in model.parameters()):,} weights")
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="tickets-"), num_train_epochs=40, per_device_train_batch_size=WORKER["batch"],
        learning_rate=5e-4, warmup_steps=50, weight_decay=0.01, logging_steps=5, save_strategy="no", evaluation_strategy="steps",
        eval_steps=400, per_device_eval_batch_size=100, report_to="none", use_cpu=True, disable_tqdm=True,
        dataloader_pin_memory=False, seed=WORKER["seed"])
    trainer = Trainer(model=model, args=arguments, train_dataset=Tickets(16000, 1), eval_dataset=Tickets(500, 2),
                      compute_metrics=accuracy)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
