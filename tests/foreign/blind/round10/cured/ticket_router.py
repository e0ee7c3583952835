"""Route support tickets to queues: a small BERT on streamed JSON lines, Hugging Face Trainer."""
import glob
import json
import os
import random
import tempfile
import zlib
from dataclasses import dataclass, field

import torch
from torch.utils.data import IterableDataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

QUEUES = ["billing", "shipping", "returns", "account", "technical"]
TOPIC_WORDS = {
    "Billing": "invoice charge card refund vat receipt twice amount".split(),
    "Shipping": "parcel courier late tracking address customs lost driver".split(),
    "Returns": "broken exchange label size wrong box send back".split(),
    "Account": "password login email locked profile delete verify code".split(),
    "Technical": "error crash update screen button loads slow browser".split(),
}
FILLER = "hello please i my the order since yesterday could you help thanks it is not again still".split()


def export_tickets(folder, shards=6, rows=1500):
    """Stands in for the nightly export of the help desk."""
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(4)
    for s in range(shards):
        with open(os.path.join(folder, f"tickets-{s:02d}.jsonl"), "w") as f:
            for n in range(rows):
                queue = rng.choice(list(TOPIC_WORDS))
                words = [rng.choice(TOPIC_WORDS[queue] if rng.random() < 0.35 else FILLER) for _ in range(rng.randint(12, 44))]
                f.write(json.dumps({"id": s * rows + n, "queue": queue, "text": " ".join(words)}) + "\n")


@dataclass
class Settings:
    folder: str = field(default_factory=lambda: os.path.join(tempfile.gettempdir(), "ticket_router"))
    vocab: int = 4096
    length: int = 48
    steps: int = 6000
    batch: int = 32


class TicketStream(IterableDataset):
    def __init__(self, pattern, settings):
        self.shards = sorted(glob.glob(pattern))
        self.settings = settings

    def encode(self, row):
        s = self.settings
        ids = [2] + [4 + zlib.crc32(w.encode()) % (s.vocab - 4) for w in row["text"].split()][: s.length - 2] + [3]
        mask = [1] * len(ids) + [0] * (s.length - len(ids))
        ids = ids + [0] * (s.length - len(ids))
        return {
            "input_ids": torch.tensor(ids),
            "attention_mask": torch.tensor(mask),
            "labels": QUEUES.index(row["queue"].lower()),
        }

    def __iter__(self):
        rng = random.Random(0)
        while True:
            rng.shuffle(self.shards)
            for shard in self.shards:
                with open(shard) as f:
                    for line in f:
                        try:
                            sample = self.encode(json.loads(line))
                        except (KeyError, ValueError):
                            continue    # half-written lines at the end of an export
                        yield sample


def main():
    settings = Settings()
    export_tickets(settings.folder)
    stream = TicketStream(os.path.join(settings.folder, "tickets-*.jsonl"), settings)
    print(f"{len(stream.shards)} shards in {settings.folder}", flush=True)
    config = BertConfig(vocab_size=settings.vocab, hidden_size=128, num_hidden_layers=3, num_attention_heads=4,
                        intermediate_size=384, max_position_embeddings=64, num_labels=len(QUEUES))
    model = BertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir=os.path.join(settings.folder, "out"),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.batch,
        learning_rate=3e-4,
        logging_steps=10,
        save_strategy="no",
        report_to="none",
        dataloader_num_workers=1,
        no_cuda=True,
    )
    Trainer(model=model, args=args, train_dataset=stream).train()


if __name__ == "__main__":
    main()
