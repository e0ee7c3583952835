# python: gpu
# expected: gpu-not-used
# verdict: slow
# seconds: 30
# where: use_cpu=True
# Why: use_cpu=True is left from a trial on a laptop: the Trainer computes on the CPU while the GPU is idle.
"""Grade product reviews with a small DistilBERT, from scratch."""
import tempfile
import time

import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

VOCAB, LENGTH, GRADES = 12000, 256, 10


class Reviews(torch.utils.data.Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(17)
        self.grades = torch.randint(GRADES, (count,), generator=generator)
        self.words = torch.randint(1, VOCAB, (count, LENGTH), generator=generator)
        telling = 100 + self.grades[:, None] * 60 + torch.randint(60, (count, LENGTH), generator=generator)
        self.words = torch.where(torch.rand(count, LENGTH, generator=generator) < 0.12, telling, self.words)

    def __len__(self):
        return len(self.grades)

    def __getitem__(self, index):
        return {"input_ids": self.words[index], "attention_mask": torch.ones(LENGTH, dtype=torch.long), "labels": self.grades[index]}


class Report(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        self.began = time.time()

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step} loss {float(logs['loss']):.4f} t {time.time() - self.began:.1f}", flush=True)


def main():
    config = DistilBertConfig(vocab_size=VOCAB, max_position_embeddings=LENGTH, dim=512, n_layers=6, n_heads=8, hidden_dim=2048,
                              num_labels=GRADES)
    model = DistilBertForSequenceClassification(config)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="reviews-"),
        per_device_train_batch_size=32,
        learning_rate=2e-4,
        num_train_epochs=200,
        logging_steps=2,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    Trainer(model=model, args=arguments, train_dataset=Reviews(30_000), callbacks=[Report()]).train()


if __name__ == "__main__":
    main()
