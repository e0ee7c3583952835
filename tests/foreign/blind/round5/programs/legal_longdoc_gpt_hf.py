# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# Why: A batch of one document of 1024 tokens with accumulated gradients: more documents per step would cost in proportion.
import sys
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

sys.stdout.reconfigure(line_buffering=True)
VOCAB, LENGTH = 2000, 1024


class Contracts(Dataset):
    """Documents from a random grammar: every clause has its own next-word table."""

    def __init__(self, n=1500, seed=4):
        rng = np.random.default_rng(seed)
        follow = rng.integers(0, VOCAB, (VOCAB, 4))
        docs = np.empty((n, LENGTH), np.int64)
        docs[:, 0] = rng.integers(0, VOCAB, n)
        for t in range(1, LENGTH):
            pick = np.minimum(rng.geometric(0.6, n) - 1, 3)
            docs[:, t] = follow[docs[:, t - 1], pick]
        self.docs = torch.from_numpy(docs)

    def __len__(self):
        return len(self.docs)

    def __getitem__(self, i):
        return {"input_ids": self.docs[i], "labels": self.docs[i]}


def main():
    set_seed(9)
    config = GPT2Config(vocab_size=VOCAB, n_positions=LENGTH, n_embd=192, n_layer=3, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0,
                        attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=1,
        gradient_accumulation_steps=2,
        learning_rate=8e-4,
        warmup_steps=20,
        max_grad_norm=1.0,
        num_train_epochs=20,
        logging_steps=5,
        save_strategy="no",
        report_to="none",
        no_cuda=True,
    )
    Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=Contracts()).train()


if __name__ == "__main__":
    main()
