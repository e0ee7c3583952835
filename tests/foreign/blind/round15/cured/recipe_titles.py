# python: loops
# expected: waits-for-pipe
# verdict: stuck
# seconds: 35
# where: scorer.stdin.write
# Why: the scorer answers while it reads; once there are more answers than its output pipe holds it waits for a reader, while
# Why: the training process is still writing titles to it. Small lists pass, the third one does not.
"""A small language model of recipe titles, the easy ones first."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

LENGTH = 64
SCORER = '''
import re, sys
for line in sys.stdin:
    words = line.split()
    sounds = sum(max(1, len(re.findall("[aeiouy]+", word))) for word in words)
    ease = 206.8 - 1.0 * len(words) - 84.6 * sounds / max(1, len(words))
    print(f"{ease:.2f}\\t{line.rstrip()}")
'''


def titles(count):
    rng = np.random.default_rng(8)
    how = ["slow roasted", "pan fried", "grandmother's", "spicy", "caramelised", "quick", "smoked", "oven baked"]
    what = ["aubergine", "chicken", "salmon", "cauliflower", "pork belly", "mushroom", "sweet potato", "lentil"]
    form = ["casserole", "salad", "curry", "pie", "soup", "risotto", "sandwich", "stew"]
    side = ["rice", "pomegranate", "yoghurt", "fresh bread", "green beans", "rosemary", "chili oil", "walnuts"]
    pick = lambda words: words[rng.integers(len(words))]
    return [f"{pick(how)} {pick(what)} {pick(form)} with {pick(side)} and {pick(side)}" for _ in range(count)]


class Titles(torch.utils.data.Dataset):
    def __init__(self, lines):
        self.lines = lines
        self.open = lines[:500]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        codes = self.open[index % len(self.open)].encode()[:LENGTH - 1] + b"\n"
        ids = torch.zeros(LENGTH, dtype=torch.long)
        ids[:len(codes)] = torch.tensor(list(codes))
        return {"input_ids": ids, "labels": torch.where(ids > 0, ids, -100)}


class Curriculum(TrainerCallback):
    """Every now and then looks at more titles and lets the easier half of them in."""

    def __init__(self, data, script):
        self.data, self.script = data, script

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % 25:
            return
        ranked = self.rank(self.data.lines[:50 * state.global_step])
        self.data.open = ranked[:max(500, len(ranked) // 2)]
        print(f"step {state.global_step} open titles {len(self.data.open)} easiest: {ranked[0]}", flush=True)

    def rank(self, lines):
        scorer = subprocess.Popen([sys.executable, self.script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answers, _ = scorer.communicate("".join(line + "\n" for line in lines))
        scored = [answer.split("\t") for answer in answers.splitlines()]
        return [line for _, line in sorted(scored, key=lambda pair: -float(pair[0]))]


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="recipes-"))
    script = folder / "ease.py"
    script.write_text(SCORER)
    data = Titles(titles(8000))
    config = GPT2Config(vocab_size=128, n_positions=LENGTH, n_embd=96, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
    arguments = TrainingArguments(
        output_dir=str(folder / "out"), max_steps=20000, per_device_train_batch_size=24, learning_rate=1e-3, logging_steps=5,
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True, dataloader_pin_memory=False, seed=4)
    Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=data, callbacks=[Curriculum(data, script)]).train()


if __name__ == "__main__":
    main()
