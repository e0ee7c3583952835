# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the same program without the fault.
"""A small GPT that answers riddles about numbers and colours; only the answer counts in the loss."""
import random
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

LENGTH, PAD = 72, 0
LETTERS = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz0123456789 ?.,:\n", start=1)}
COLOURS = ["red", "green", "blue", "white", "brown", "golden"]
THINGS = ["stones", "birds", "lamps", "ropes", "shells", "coins"]
ASIDES = ["so the miller says", "and nobody knows why", "as it was told to me", "in the old house by the sea", "on a winter day"]


def riddle(rng):
    colour, thing, number = rng.choice(COLOURS), rng.choice(THINGS), rng.randint(1, 9)
    question = f"i have {number} {colour} {thing}"
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        question += ", " + rng.choice(ASIDES)
    return question + ". what is it?\n", f"{number} {thing}, {colour}.\n"


class Riddles(Dataset):
    def __init__(self, count, seed):
        rng = random.Random(seed)
        self.samples = []
        while len(self.samples) < count:
            question, answer = ([LETTERS[letter] for letter in part] for part in riddle(rng))
            if len(question) + len(answer) > LENGTH:
                continue
            ids = (question + answer)[:LENGTH]
            labels = ([-100] * len(question) + answer)[:LENGTH]
            empty = LENGTH - len(ids)
            self.samples.append({"input_ids": torch.tensor(ids + [PAD] * empty),
                                 "attention_mask": torch.tensor([1] * len(ids) + [0] * empty),
                                 "labels": torch.tensor(labels + [-100] * empty)})

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


class Tell(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f}", flush=True)


def main():
    torch.manual_seed(4)
    config = GPT2Config(vocab_size=len(LETTERS) + 1, n_positions=LENGTH, n_embd=96, n_layer=2, n_head=4,
                        bos_token_id=PAD, eos_token_id=PAD)
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(folder, per_device_train_batch_size=4, learning_rate=1e-3, max_steps=20_000, warmup_steps=20,
                                     logging_steps=4, logging_nan_inf_filter=False, save_strategy="no", report_to=[],
                                     disable_tqdm=True, seed=4)
        Trainer(GPT2LMHeadModel(config), settings, train_dataset=Riddles(6000, seed=9), callbacks=[Tell()]).train()


if __name__ == "__main__":
    main()
