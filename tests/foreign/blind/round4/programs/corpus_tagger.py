# python: torch
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: gc.collect()
# Why: gc.collect() after every step "to keep memory low" walks over the whole corpus, which is held as a great many small Python objects. The call was once pasted in against an out-of-memory error.
import gc
import random

import torch
from torch import nn

TAGS = 12
VOCAB = 3000


class Token:
    __slots__ = ("form", "tag", "features")

    def __init__(self, form, tag, features):
        self.form = form
        self.tag = tag
        self.features = features


def read_corpus(sentences=20000, seed=7):
    rng = random.Random(seed)
    corpus = []
    for _ in range(sentences):
        sentence = []
        for _ in range(16):
            form = rng.randrange(VOCAB)
            tag = (form * 7 + (sentence[-1].tag if sentence else 0)) % TAGS
            features = {"upper": [form % 2], "suffix": [form % 17]}
            sentence.append(Token(form, tag, features))
        corpus.append(sentence)
    return corpus


def collate(sentences):
    forms = torch.tensor([[t.form for t in s] for s in sentences])
    suffix = torch.tensor([[t.features["suffix"][0] for t in s] for s in sentences])
    tags = torch.tensor([[t.tag for t in s] for s in sentences])
    return forms, suffix, tags


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, 48)
        self.suffixes = nn.Embedding(17, 16)
        self.rnn = nn.GRU(64, 64, batch_first=True, bidirectional=True)
        self.out = nn.Linear(128, TAGS)

    def forward(self, forms, suffix):
        h = torch.cat([self.words(forms), self.suffixes(suffix)], dim=-1)
        h, _ = self.rnn(h)
        return self.out(h)


def main():
    torch.manual_seed(1)
    corpus = read_corpus()
    print(f"{len(corpus)} sentences", flush=True)
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
    criterion = nn.CrossEntropyLoss()
    step = 0
    while True:
        random.shuffle(corpus)
        for start in range(0, len(corpus), 32):
            forms, suffix, tags = collate(corpus[start:start + 32])
            logits = model(forms, suffix)
            loss = criterion(logits.flatten(0, 1), tags.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
            del logits
            gc.collect()


main()
