# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Gradients are gathered over 8 small batches and a line comes every 5 updates, so output is rare; the transformer is the work.
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

SYMBOLS = 96
LENGTH = 128


class Poems(Dataset):
    """Lines with metre and rhyme: the second half of a line answers the first."""

    def __init__(self, n=6000):
        g = torch.Generator().manual_seed(31)
        first = torch.randint(0, SYMBOLS // 2, (n, LENGTH // 2), generator=g)
        metre = torch.arange(LENGTH // 2) % 8
        first = (first // 8) * 8 + metre
        second = (first + SYMBOLS // 2) % SYMBOLS
        self.text = torch.cat([first, second], 1)

    def __len__(self):
        return len(self.text)

    def __getitem__(self, i):
        return {"input_ids": self.text[i], "labels": self.text[i]}


def main():
    set_seed(12)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=SYMBOLS, n_positions=LENGTH, n_embd=96, n_layer=3, n_head=4,
                                       resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    print(f"{sum(p.numel() for p in model.parameters()):,} weights", flush=True)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(prefix="poems"), max_steps=20000,
                             per_device_train_batch_size=8, gradient_accumulation_steps=8,
                             learning_rate=1e-3, warmup_steps=10, logging_steps=5, save_strategy="no",
                             report_to=[], no_cuda=True)
    Trainer(model=model, args=args, train_dataset=Poems()).train()


if __name__ == "__main__":
    main()
