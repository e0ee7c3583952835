"""A small GPT-2, made from its config, learns made-up recipes letter by letter."""
import argparse
import random
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

THINGS = ["flour", "butter", "leek", "saffron", "egg", "barley", "plum", "thyme", "walnut", "honey", "rice", "cod"]
DEEDS = ["stir", "fold in", "simmer", "roast", "chop", "rest", "whisk", "glaze"]


def recipe(rng):
    lines = [f"{rng.choice(DEEDS)} the {rng.choice(THINGS)} for {rng.randint(2, 60)} minutes" for _ in range(6)]
    return "; ".join(lines) + "."


class Letters(Dataset):
    def __init__(self, recipes, length, seed=8):
        rng = random.Random(seed)
        text = " ".join(recipe(rng) for _ in range(recipes))
        alphabet = sorted(set(text))
        index = {c: i for i, c in enumerate(alphabet)}
        self.size, self.length = len(alphabet), length
        self.codes = torch.tensor([index[c] for c in text])

    def __len__(self):
        return (len(self.codes) - 1) // self.length

    def __getitem__(self, i):
        piece = self.codes[i * self.length:(i + 1) * self.length]
        return {"input_ids": piece, "labels": piece}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--length", type=int, default=96)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--steps", type=int, default=9000)
    args = p.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(4)
    data = Letters(6000, args.length)
    config = GPT2Config(vocab_size=data.size, n_positions=args.length, n_embd=128, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    print(f"{len(data)} pieces of {args.length} letters, alphabet of {data.size}")
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(folder, max_steps=args.steps, per_device_train_batch_size=args.batch, learning_rate=6e-4,
                                     lr_scheduler_type="cosine", warmup_steps=20, logging_steps=10, save_strategy="no",
                                     report_to=[], no_cuda=True)
        Trainer(model, settings, train_dataset=data).train()


if __name__ == "__main__":
    main()
