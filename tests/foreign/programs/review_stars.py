# python: torch
# expected: source-never-yields
# verdict: stuck
# seconds: 30
# where: continue / json.loads / for line / not in self.languages / open( / while True
# Why: the records say "EN", the filter asks for "en": each line is read, parsed and dropped, and the file is begun
# again at its end. The worker is busy for ever and the training loop waits for its first batch.
import gzip
import json
import logging
import os
import random
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

logging.basicConfig(format="[%(levelname)s] %(message)s", level=logging.INFO)
logger = logging.getLogger(__name__)

WORDS = ["fine", "broken", "late", "lovely", "cheap", "noisy", "soft", "again", "never", "refund"]
VOCABULARY = {word: k for k, word in enumerate(WORDS)}


def download(path, n=20_000):
    if os.path.isfile(path):
        return path
    rnd = random.Random(3)
    with gzip.open(path + ".part", "wt", compresslevel=1) as out:
        for _ in range(n):
            record = {"lang": rnd.choice(["EN", "DE", "FR"]), "stars": rnd.randint(1, 5),
                      "text": " ".join(rnd.choices(WORDS, k=40))}
            out.write(json.dumps(record) + "\n")
    os.replace(path + ".part", path)
    return path


class Reviews(IterableDataset):
    def __init__(self, path, languages=("en",)):
        self.path = path
        self.languages = set(languages)

    def records(self):
        while True:
            with gzip.open(self.path, "rt") as stream:
                for line in stream:
                    record = json.loads(line)
                    if record["lang"] not in self.languages:
                        continue
                    yield record

    def __iter__(self):
        for record in self.records():
            bag = torch.zeros(len(VOCABULARY))
            for word in record["text"].split():
                bag[VOCABULARY[word]] += 1
            yield bag, torch.tensor(record["stars"] - 1)


def run(steps=100_000):
    path = download(os.path.join(tempfile.gettempdir(), "review-stars.jsonl.gz"))
    logger.info("reading %s", path)
    batches = DataLoader(Reviews(path), batch_size=64, num_workers=1, prefetch_factor=4)
    model = nn.Sequential(nn.Linear(len(VOCABULARY), 64), nn.ReLU(), nn.Linear(64, 5))
    criterion = nn.CrossEntropyLoss()
    optim = torch.optim.Adam(model.parameters())
    logger.info("start training")
    for step, (bags, stars) in zip(range(steps), batches):
        optim.zero_grad()
        loss = criterion(model(bags), stars)
        loss.backward()
        optim.step()
        if step % 20 == 0:
            logger.info("step %d: loss %.4f", step, loss)


if __name__ == "__main__":
    run()
