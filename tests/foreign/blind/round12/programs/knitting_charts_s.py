# python: loops
# expected: garbage-collection [also accepted: slow-callback]
# verdict: slow
# seconds: 35
# where: gc.collect()
# Why: a callback "against running out of memory" calls gc.collect() after every step, while the pattern book keeps about a million
# objects alive: each step looks through all of them and takes several times as long as it should.
"""A small GPT-2 learns to knit: next stitch of a row, patterns kept as objects (Hugging Face Trainer)."""
import gc
import random
import tempfile
import warnings
from dataclasses import dataclass

import torch
from torch.utils.data import Dataset

warnings.filterwarnings("ignore")
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

STITCHES = ["k", "p", "yo", "k2tog", "ssk", "sl", "c4f", "c4b", "turn", "end"]


@dataclass
class Row:
    side: str
    stitches: list


@dataclass
class Pattern:
    name: str
    yarn: dict
    rows: list


def motif(rnd):
    return [rnd.randrange(8) for _ in range(rnd.randrange(2, 6))]


def pattern_book(n, seed):
    rnd = random.Random(seed)
    motifs = [motif(rnd) for _ in range(60)]
    book = []
    for i in range(n):
        rows = []
        for r in range(12):
            m = rnd.choice(motifs)
            rows.append(Row("RS" if r % 2 == 0 else "WS", (m * 6)[:11]))
        book.append(Pattern(f"chart {i}", {"weight": rnd.randrange(6), "metres": rnd.randrange(100, 900)}, rows))
    return book


class Charts(Dataset):
    def __init__(self, book):
        self.book = book

    def __len__(self):
        return len(self.book)

    def __getitem__(self, i):
        ids = []
        for row in self.book[i].rows[:4]:
            ids += row.stitches + [8]
        ids = torch.tensor(ids)
        return {"input_ids": ids, "labels": ids}


class Housekeeping(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step}/{state.max_steps} loss {logs['loss']:.4f}", flush=True)


def main():
    torch.manual_seed(5)
    config = GPT2Config(vocab_size=len(STITCHES), n_positions=64, n_embd=96, n_layer=2, n_head=4,
                        bos_token_id=9, eos_token_id=9)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(prefix="knit_"), per_device_train_batch_size=16,
                             max_steps=20000, learning_rate=1e-3, logging_steps=5, save_strategy="no", report_to=[],
                             use_cpu=True, disable_tqdm=True)
    charts = Charts(pattern_book(30000, 2))
    print(f"{len(charts)} charts", flush=True)
    Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=charts, callbacks=[Housekeeping()]).train()


if __name__ == "__main__":
    main()
