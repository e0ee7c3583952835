# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 32
# Why: a long warm-up makes the loss slow to move, gradient accumulation makes the steps long, a collator in
# Python masks the moves, it evaluates on a small set and saves now and then; all of it is as it should be.
"""Masked-move model of chess openings: RoBERTa from a config, Hugging Face Trainer."""
import os
import sys
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import RobertaConfig, RobertaForMaskedLM, Trainer, TrainerCallback, TrainingArguments

sys.stdout.reconfigure(line_buffering=True)
PAD, BOS, EOS, MASK, FIRST = 1, 0, 2, 3, 4
MOVES, PLIES = 200, 62


def play_games(n, seed):
    """A Markov chain over moves: after each move only a few answers are usual."""
    table = np.random.default_rng(0)
    answers = table.integers(MOVES, size=(MOVES, 4))
    weights = np.array([0.6, 0.25, 0.1, 0.05]).cumsum()
    rng = np.random.default_rng(seed)
    games = np.empty((n, PLIES), np.int64)
    games[:, 0] = rng.integers(20, size=n)
    for ply in range(1, PLIES):
        choice = np.searchsorted(weights, rng.random(n)).clip(max=3)
        games[:, ply] = answers[games[:, ply - 1], choice]
    return games + FIRST


class Games(Dataset):
    def __init__(self, n, seed):
        self.games = play_games(n, seed)

    def __len__(self):
        return len(self.games)

    def __getitem__(self, i):
        return self.games[i]


class MaskMoves:
    def __init__(self, share=0.15):
        self.share = share

    def __call__(self, games):
        rows, labels = [], []
        for game in games:
            row = torch.tensor([BOS, *game.tolist(), EOS])
            hide = torch.rand(len(row)) < self.share
            hide[0] = hide[-1] = False
            labels.append(torch.where(hide, row, torch.tensor(-100)))
            rows.append(torch.where(hide, torch.tensor(MASK), row))
        return {"input_ids": torch.stack(rows), "labels": torch.stack(labels),
                "attention_mask": torch.ones(len(rows), len(rows[0]), dtype=torch.long)}


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        shown = ", ".join(f"{k} {v:.4g}" for k, v in logs.items() if k in ("loss", "eval_loss", "learning_rate"))
        print(f"step {state.global_step}: {shown}")


def main():
    torch.manual_seed(17)
    config = RobertaConfig(vocab_size=MOVES + FIRST, hidden_size=128, num_hidden_layers=4, num_attention_heads=4,
                           intermediate_size=384, max_position_embeddings=PLIES + 6, pad_token_id=PAD)
    model = RobertaForMaskedLM(config)
    args = TrainingArguments(
        output_dir=os.path.join(tempfile.gettempdir(), "chess_openings"),
        max_steps=4000,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=2,
        learning_rate=1e-3,
        warmup_steps=40,
        logging_steps=2,
        evaluation_strategy="steps",
        eval_steps=30,
        save_steps=60,
        save_total_limit=1,
        per_device_eval_batch_size=64,
        disable_tqdm=True,
        report_to="none",
        no_cuda=True,
        remove_unused_columns=False,
    )
    trainer = Trainer(model=model, args=args, train_dataset=Games(20_000, 1), eval_dataset=Games(64, 2),
                      data_collator=MaskMoves(), callbacks=[Report()])
    trainer.train()


if __name__ == "__main__":
    main()
