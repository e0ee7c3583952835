# python: loops
# expected: input-bound [also accepted: hot-line, dataloader-workers, python-generator, per-pixel-python, serial-map, no-prefetch]
# verdict: slow
# seconds: 40
# where: merge( / while len(pieces) / ranks.get / encode(
# Why: the collator tokenizes the raw texts with a pure Python byte-pair encoder again in every epoch, on the training thread; it was easier than storing the ids once.
import os
import random
import tempfile
import time

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments, set_seed

LENGTH = 48
TOPICS = {"login": "password account reset locked cannot sign",
          "billing": "invoice refund charged twice payment card",
          "network": "timeout connection slow packet router cable",
          "printer": "toner paper jam driver queue offline"}


def make_tickets(n=160):
    rng = random.Random(8)
    filler = "please help since yesterday the system in our department is not working and nobody answers".split()
    tickets = []
    for _ in range(n):
        label = rng.randrange(len(TOPICS))
        words = rng.choices(filler, k=40) + rng.choices(list(TOPICS.values())[label].split(), k=4)
        rng.shuffle(words)
        tickets.append({"text": " ".join(words), "label": label})
    return tickets


class PairEncoder:
    def __init__(self, tickets, merges=220):
        text = " ".join(t["text"] for t in tickets[:40])
        pieces, self.ranks = list(text), {}
        for rank in range(merges):
            counts = {}
            for pair in zip(pieces, pieces[1:]):
                counts[pair] = counts.get(pair, 0) + 1
            best = max(counts, key=counts.get)
            self.ranks[best] = rank
            pieces = self.merge(pieces, best)
        self.ids = {}

    def merge(self, pieces, pair):
        out, i = [], 0
        while i < len(pieces):
            if i + 1 < len(pieces) and (pieces[i], pieces[i + 1]) == pair:
                out.append(pieces[i] + pieces[i + 1])
                i += 2
            else:
                out.append(pieces[i])
                i += 1
        return out

    def encode(self, text):
        pieces = list(text)
        while len(pieces) > 1:
            pair = min(zip(pieces, pieces[1:]), key=lambda p: self.ranks.get(p, 10 ** 9))
            if pair not in self.ranks:
                break
            pieces = self.merge(pieces, pair)
        ids = [self.ids.setdefault(p, 1 + len(self.ids) % 1999) for p in pieces][:LENGTH]
        return ids + [0] * (LENGTH - len(ids))


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step}  loss {logs['loss']:.4f}  {time.strftime('%H:%M:%S')}", flush=True)


def main():
    set_seed(4)
    tickets = make_tickets()
    encoder = PairEncoder(tickets)

    def collate(rows):
        return {"input_ids": torch.tensor([encoder.encode(r["text"]) for r in rows]),
                "labels": torch.tensor([r["label"] for r in rows])}

    config = BertConfig(vocab_size=2000, hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=LENGTH, num_labels=len(TOPICS))
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="tickets_"), per_device_train_batch_size=16, num_train_epochs=600,
        learning_rate=5e-4, logging_steps=2, save_strategy="no", report_to=[], disable_tqdm=True,
        use_cpu=True, remove_unused_columns=False)
    Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=tickets,
            data_collator=collate, callbacks=[Report()]).train()


if __name__ == "__main__":
    main()
