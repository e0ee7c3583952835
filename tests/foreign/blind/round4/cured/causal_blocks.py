import fcntl
import os
import tempfile
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

VOCAB, BLOCK = 300, 32


class CachedBlocks(Dataset):
    """Token blocks, built once per split and kept in a cache folder."""

    def __init__(self, cache, split, count):
        self.cache = cache
        self.split = split
        self.count = count
        self.blocks = None
        self.handle = None

    def build(self, path):
        rng = np.random.default_rng(len(self.split))
        table = rng.integers(0, VOCAB, (VOCAB, 3))
        blocks = np.empty((self.count, BLOCK), np.int64)
        blocks[:, 0] = rng.integers(0, VOCAB, self.count)
        for t in range(1, BLOCK):
            blocks[:, t] = table[blocks[:, t - 1], rng.integers(0, 3, self.count)]
        np.save(path, blocks)

    def load(self):
        self.handle = open(os.path.join(self.cache, ".lock"), "w")
        fcntl.flock(self.handle, fcntl.LOCK_EX)
        path = os.path.join(self.cache, f"{self.split}.npy")
        if not os.path.exists(path):
            self.build(path)
        self.blocks = np.load(path)
        self.handle.close()

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.blocks is None:
            self.load()
        ids = torch.from_numpy(self.blocks[index])
        return {"input_ids": ids, "labels": ids}


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        for key in ("loss", "eval_loss"):
            if key in logs:
                print(f"step {state.global_step} {key} {logs[key]:.4f}", flush=True)


def main():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=VOCAB, n_positions=BLOCK, n_embd=96, n_layer=3, n_head=4)
    with tempfile.TemporaryDirectory() as cache:
        args = TrainingArguments(
            output_dir=os.path.join(cache, "out"),
            per_device_train_batch_size=16,
            per_device_eval_batch_size=32,
            evaluation_strategy="steps",
            eval_steps=60,
            logging_steps=10,
            max_steps=5000,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        trainer = Trainer(
            model=GPT2LMHeadModel(config),
            args=args,
            train_dataset=CachedBlocks(cache, "train", 8000),
            eval_dataset=CachedBlocks(cache, "validation", 320),
            callbacks=[Report()],
        )
        trainer.train()


if __name__ == "__main__":
    main()
