# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: batch of 1 with 16 accumulated for the sake of memory: each piece is 384 tokens long and fills the cores; one line is logged
#   every few seconds, there is no bar, and the warm-up makes the loss move slowly at first.
"""A small GPT-2 from scratch on commit messages, Hugging Face Trainer."""
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCAB = 1024
CONTEXT = 384


class Commits(Dataset):
    """Packed token blocks. A word is mostly followed by one of four others."""

    def __init__(self, blocks, seed):
        g = torch.Generator().manual_seed(seed)
        follow = torch.randint(0, VOCAB, (VOCAB, 4), generator=g)
        ids = torch.empty(blocks, CONTEXT, dtype=torch.long)
        now = torch.randint(0, VOCAB, (blocks,), generator=g)
        for t in range(CONTEXT):
            ids[:, t] = now
            step = follow[now, torch.randint(0, 4, (blocks,), generator=g)]
            jump = torch.randint(0, VOCAB, (blocks,), generator=g)
            now = torch.where(torch.rand(blocks, generator=g) < 0.92, step, jump)
        self.ids = ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i]}


def main():
    set_seed(33)
    config = GPT2Config(vocab_size=VOCAB, n_positions=CONTEXT, n_embd=192, n_layer=3, n_head=4,
                        bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="commits_"),
        per_device_train_batch_size=1,
        gradient_accumulation_steps=16,
        learning_rate=1e-3,
        warmup_steps=10,
        max_steps=5000,
        logging_steps=1,
        save_strategy="no",
        optim="adamw_torch",
        report_to=[],
        disable_tqdm=True,
    )
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f}M parameters", flush=True)
    Trainer(model=model, args=args, train_dataset=Commits(4000, 33)).train()


if __name__ == "__main__":
    main()
