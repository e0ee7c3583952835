# python: loops
# expected: preprocessing-before-fit
# verdict: not-started|slow
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# where: self.longest / pieces.append / encode
# Why: All texts go through a word-piece splitter written in Python before the Trainer is called; the first step comes minutes later.
import random
import string
import sys
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

sys.stdout.reconfigure(line_buffering=True)
TEAMS = ["billing", "network", "hardware", "accounts"]
MAX_LEN = 64


def make_tickets(n, seed=11):
    rnd = random.Random(seed)
    words = ["".join(rnd.choices(string.ascii_lowercase, k=rnd.randint(3, 14))) for _ in range(6000)]
    topic = {t: words[i * 400:(i + 1) * 400] for i, t in enumerate(TEAMS)}
    texts, labels = [], []
    quoted = [" ".join(rnd.choices(words, k=60)) for _ in range(800)]
    for _ in range(n):
        y = rnd.randrange(len(TEAMS))
        texts.append(" ".join(rnd.choices(topic[TEAMS[y]], k=12) + rnd.choices(quoted, k=6)))
        labels.append(y)
    return texts, labels


class PieceTokenizer:
    def __init__(self, texts, size=3000):
        count = {}
        for text in texts[:60]:
            for word in text.split():
                for i in range(len(word)):
                    for j in range(i + 1, min(i + 6, len(word)) + 1):
                        count[word[i:j]] = count.get(word[i:j], 0) + 1
        best = sorted(count, key=lambda p: -count[p] * len(p))[:size]
        self.ids = {p: i + 2 for i, p in enumerate(set(best) | set(string.ascii_lowercase))}

    def longest(self, word, start):
        end = len(word)
        while end > start and word[start:end] not in self.ids:
            end -= 1
        return end

    def encode(self, text):
        pieces = [1]
        for word in text.lower().split():
            pos = 0
            while pos < len(word):
                end = self.longest(word, pos)
                pieces.append(self.ids[word[pos:end]])
                pos = end
        pieces = pieces[:MAX_LEN]
        mask = [1] * len(pieces) + [0] * (MAX_LEN - len(pieces))
        return pieces + [0] * (MAX_LEN - len(pieces)), mask


class Tickets(Dataset):
    def __init__(self, texts, labels, tokenizer):
        self.rows, self.tokenizer = list(zip(texts, labels)), tokenizer

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        ids, mask = self.tokenizer.encode(text)
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": label}


def main():
    texts, labels = make_tickets(80_000)
    tokenizer = PieceTokenizer(texts)
    print(f"{len(texts)} tickets, {len(tokenizer.ids)} pieces")
    train = Tickets(texts, labels, tokenizer)
    config = BertConfig(vocab_size=len(tokenizer.ids) + 2, hidden_size=128, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=256, max_position_embeddings=MAX_LEN, num_labels=len(TEAMS))
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=8, learning_rate=5e-4, num_train_epochs=5,
                             logging_steps=5, save_strategy="no", report_to="none", disable_tqdm=True, no_cuda=True)
    Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=train).train()


if __name__ == "__main__":
    main()
