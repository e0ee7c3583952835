# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: a plain language model under the Trainer: warm-up, so the loss falls slowly at first, a short evaluation now and then,
# a checkpoint every hundred steps, everything in one process.
"""A character model of stage directions (enter, exit, with whom and whence)."""
import random
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

LENGTH = 64
ROLES = "the king|the queen|a messenger|two soldiers|the fool|a ghost|the gardener|three witches|an old nurse".split("|")
DOINGS = "enters|exits|kneels|draws a sword|whispers|falls asleep|reads a letter|looks at the moon|laughs".split("|")
PLACES = "from the left|from the garden|on the wall|by the well|behind the curtain|at the gate|under the table".split("|")
HOWS = "slowly|in haste|with a torch|in disguise|unseen|weeping|to music".split("|")


def play(lines, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(lines):
        line = f"[{rng.choice(ROLES)} {rng.choice(DOINGS)} {rng.choice(PLACES)}"
        if rng.random() < 0.5:
            line += ", " + rng.choice(HOWS)
        if rng.random() < 0.3:
            line += f"; {rng.choice(ROLES)} follows"
        out.append(line + "]\n")
    return "".join(out)


class Pieces(Dataset):
    """Windows of the text, one beginning every 32 characters."""

    def __init__(self, text, letters):
        self.ids = torch.tensor([letters.index(letter) for letter in text])

    def __len__(self):
        return (len(self.ids) - LENGTH) // 32

    def __getitem__(self, index):
        piece = self.ids[index * 32:index * 32 + LENGTH]
        return {"input_ids": piece, "labels": piece}


class Tell(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f} rate {logs['learning_rate']:.2e}", flush=True)
        elif "eval_loss" in logs:
            print(f"  held out {logs['eval_loss']:.4f}", flush=True)


def main():
    torch.manual_seed(1)
    text = play(8000, seed=6)
    letters = sorted(set(text))
    config = GPT2Config(vocab_size=len(letters), n_positions=LENGTH, n_embd=96, n_layer=3, n_head=4, bos_token_id=0,
                        eos_token_id=0)
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(folder, per_device_train_batch_size=16, per_device_eval_batch_size=32, learning_rate=8e-4,
                                     warmup_steps=40, lr_scheduler_type="cosine", max_steps=8000, logging_steps=2,
                                     evaluation_strategy="steps", eval_steps=80, save_steps=100, save_total_limit=1,
                                     report_to=[], disable_tqdm=True)
        Trainer(GPT2LMHeadModel(config), settings, train_dataset=Pieces(text, letters),
                eval_dataset=Pieces(play(110, seed=7), letters), callbacks=[Tell()]).train()


if __name__ == "__main__":
    main()
