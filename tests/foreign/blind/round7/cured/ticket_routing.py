# python: loops
import random
import tempfile

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

QUEUES = ["billing", "hardware", "network", "accounts", "returns"]
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "or", "um")]


def write_tickets(n):
    rnd = random.Random(4)
    lexicon = ["".join(rnd.choices(SYLLABLES, k=rnd.randint(2, 5))) for _ in range(6000)]
    typical = {q: rnd.sample(lexicon, 60) for q in range(len(QUEUES))}
    tickets = []
    for _ in range(n):
        queue = rnd.randrange(len(QUEUES))
        words = rnd.choices(lexicon, k=80) + rnd.choices(typical[queue], k=20)
        tickets.append((" ".join(words), queue))
    return tickets


class SubwordVocab:
    """Longest piece first, as in WordPiece."""

    def __init__(self, pieces):
        self.ids = {"[PAD]": 0, "[UNK]": 1}
        for piece in pieces:
            self.ids.setdefault(piece, len(self.ids))
            self.ids.setdefault("##" + piece, len(self.ids))

    def split_word(self, word):
        out, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start:
                piece = ("##" if start else "") + word[start:end]
                if piece in self.ids:
                    out.append(self.ids[piece])
                    break
                end -= 1
            else:
                out.append(1)
                end = start + 1
            start = end
        return out

    def encode(self, text, length=192):
        ids = [i for word in text.lower().split() for i in self.split_word(word)]
        return (ids + [0] * length)[:length]


class TicketDataset(Dataset):
    def __init__(self, tickets, vocab):
        self.vocab = vocab
        self.examples = tickets

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, i):
        text, queue = self.examples[i]
        return {"input_ids": torch.tensor(self.vocab.encode(text)), "labels": queue}


class Router(nn.Module):
    def __init__(self, n_pieces, dim=96):
        super().__init__()
        self.embed = nn.Embedding(n_pieces, dim, padding_idx=0)
        self.encoder = nn.TransformerEncoderLayer(dim, 4, 192, batch_first=True)
        self.classify = nn.Linear(dim, len(QUEUES))

    def forward(self, input_ids, labels=None):
        h = self.encoder(self.embed(input_ids)).mean(1)
        logits = self.classify(h)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


if __name__ == "__main__":
    set_seed(0)
    print("reading tickets", flush=True)
    tickets = write_tickets(100_000)
    vocab = SubwordVocab(SYLLABLES)
    train_set = TicketDataset(tickets, vocab)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), per_device_train_batch_size=8, num_train_epochs=3, learning_rate=5e-4,
        logging_steps=5, save_strategy="no", report_to=[], no_cuda=True, disable_tqdm=True,
    )
    Trainer(model=Router(len(vocab.ids)), args=args, train_dataset=train_set).train()
