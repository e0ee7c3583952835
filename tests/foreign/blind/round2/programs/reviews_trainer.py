# python: loops
# expected: input-bound [also accepted: hot-line, python-generator, dataloader-workers, no-prefetch]
# verdict: slow
# env: OMP_WAIT_POLICY=passive
# seconds: 40
# where: tokenizer( / def __call__
# Why: whole product reviews go through the slow Python tokenizer in the collator, for every batch of every epoch and on the training thread, while the small model waits; the usual result of moving tokenization "to the end" to save memory.
import os
import random
import tempfile
import warnings
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, BertTokenizer, Trainer, TrainerCallback,
                          TrainingArguments)

warnings.filterwarnings("ignore")
random.seed(90)
SYLLABLES = ["ka", "lo", "mi", "tan", "ser", "vo", "pri", "du", "nel", "gar", "be", "sto", "ri", "fen", "qua"]
GOOD = [f"{a}{b}" for a in SYLLABLES[:7] for b in SYLLABLES]
BAD = [f"{a}{b}" for a in SYLLABLES[7:] for b in SYLLABLES]


def write_vocab(folder):
    path = os.path.join(folder, "vocab.txt")
    letters = [chr(c) for c in range(97, 123)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + SYLLABLES + ["##" + s for s in SYLLABLES]
    pieces += letters + ["##" + c for c in letters] + [".", ",", "!"]
    with open(path, "w") as f:
        f.write("\n".join(dict.fromkeys(pieces)))
    return path


class Reviews(Dataset):
    def __init__(self, n=3000):
        self.rows = []
        for _ in range(n):
            y = random.randrange(2)
            words = random.choices(GOOD if y else BAD, k=250) + random.choices(GOOD + BAD, k=350)
            random.shuffle(words)
            self.rows.append({"text": " ".join(words) + ".", "label": y})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Collate:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, rows):
        batch = self.tokenizer([r["text"] for r in rows], truncation=True, max_length=64, padding="max_length",
                               return_tensors="pt")
        batch["labels"] = torch.tensor([r["label"] for r in rows])
        return batch


class Lines(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % 5 == 0:
            print(f"step {state.global_step} of {state.max_steps}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = BertTokenizer(write_vocab(folder))
        config = BertConfig(vocab_size=len(tokenizer), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                            intermediate_size=96, max_position_embeddings=64)
        args = TrainingArguments(folder, per_device_train_batch_size=16, num_train_epochs=20, learning_rate=5e-4,
                                 logging_steps=50, save_strategy="no", report_to=[], disable_tqdm=True,
                                 remove_unused_columns=False, no_cuda=True)
        trainer = Trainer(BertForSequenceClassification(config), args, data_collator=Collate(tokenizer),
                          train_dataset=Reviews(), callbacks=[Lines()])
        trainer.train()


if __name__ == "__main__":
    main()
