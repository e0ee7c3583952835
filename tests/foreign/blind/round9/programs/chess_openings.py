# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the bar moves once in four batches (gradients are accumulated), the collator is Python, the rate of learning warms up slowly
# and evaluation interrupts now and then. All of that is meant, and the model takes nearly all of the time.
"""Next move in made-up chess openings: a GPT-2 from its config with the Hugging Face Trainer."""
import random
import tempfile
from dataclasses import dataclass

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

FILES, RANKS = "abcdefgh", "12345678"
MOVES = [p + f + r for p in ("", "N", "B", "Q") for f in FILES for r in RANKS]
PAD = len(MOVES)


class Openings(Dataset):
    """Games follow a tree: the last move decides on a handful of answers."""

    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.games = []
        for _ in range(n):
            game = [rng.randrange(16), rng.randrange(16)]
            for _ in range(rng.randint(40, 62)):
                game.append((game[-1] * 31 + rng.choice((7, 7, 7, 12, 40))) % len(MOVES))
            self.games.append(game)

    def __len__(self):
        return len(self.games)

    def __getitem__(self, i):
        return self.games[i]


@dataclass
class PadGames:
    length: int = 64

    def __call__(self, games):
        ids = torch.full((len(games), self.length), PAD)
        for row, game in enumerate(games):
            ids[row, :len(game)] = torch.tensor(game)
        return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": ids.masked_fill(ids == PAD, -100)}


def main():
    torch.manual_seed(9)
    train, test = Openings(12000, 1), Openings(120, 2)
    config = GPT2Config(vocab_size=len(MOVES) + 1, n_positions=64, n_embd=128, n_layer=3, n_head=4, bos_token_id=PAD, eos_token_id=PAD)
    model = GPT2LMHeadModel(config)
    print(f"{len(train)} games; {model.num_parameters():,} parameters")
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(folder, max_steps=2000, per_device_train_batch_size=8, gradient_accumulation_steps=4,
                                 per_device_eval_batch_size=30, learning_rate=2e-3, warmup_steps=25, weight_decay=0.01,
                                 evaluation_strategy="steps", eval_steps=80, logging_steps=2, save_strategy="no",
                                 remove_unused_columns=False, report_to=[], no_cuda=True, seed=9)
        Trainer(model, args, data_collator=PadGames(), train_dataset=train, eval_dataset=test).train()


if __name__ == "__main__":
    main()
