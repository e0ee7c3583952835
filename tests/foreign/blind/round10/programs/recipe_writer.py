# python: loops
# expected: slow-callback [also accepted: hot-line]
# verdict: slow
# seconds: 32
# where: model.generate
# Why: a Trainer callback writes sample recipes with model.generate at every log, and it logs every two steps: the samples take
# much more time than the training.
"""Small GPT that writes recipes, trained from scratch with the Hugging Face Trainer."""
import os
import random
import sys
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

sys.stdout.reconfigure(line_buffering=True)

VERBS = "chop fry boil bake whisk fold grate roast knead season simmer drain".split()
THINGS = "onion garlic flour butter egg rice tomato carrot lentil cream chicken pepper basil salt potato".split()
HOWS = "gently quickly twice overnight until-golden until-soft for-ten-minutes for-an-hour".split()
WORDS = ["<pad>", "<bos>", "<eos>", "then", "with", "and", "."] + VERBS + THINGS + HOWS
INDEX = {w: i for i, w in enumerate(WORDS)}
CONTEXT = 96


def write_recipe(rng):
    pantry = rng.sample(THINGS, 4)
    words = ["<bos>"]
    while len(words) < CONTEXT:
        words += [rng.choice(VERBS), rng.choice(pantry)]
        if rng.random() < 0.4:
            words += ["with", rng.choice(pantry)]
        words += [rng.choice(HOWS), "then" if rng.random() < 0.5 else "."]
    words = words[: CONTEXT - 1] + ["<eos>"]
    return [INDEX[w] for w in words]


class Recipes(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = torch.tensor([write_recipe(rng) for _ in range(n)])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


class SampleRecipes(TrainerCallback):
    """Writes a few recipes to a text file, to see by eye how the model comes along."""

    def __init__(self, path, starts):
        self.path = path
        self.prompts = torch.tensor([[INDEX["<bos>"], INDEX[v], INDEX[t]] for v, t in starts])

    def on_log(self, args, state, control, model=None, **kwargs):
        model.eval()
        with torch.no_grad():
            rows = model.generate(self.prompts, attention_mask=torch.ones_like(self.prompts), do_sample=True, top_k=20,
                                  max_length=CONTEXT, pad_token_id=0, eos_token_id=INDEX["<eos>"])
        model.train()
        with open(self.path, "a") as f:
            f.write(f"--- step {state.global_step}\n")
            for row in rows.tolist():
                f.write(" ".join(WORDS[i] for i in row) + "\n")


def main():
    set_seed(8)
    out = os.path.join(tempfile.gettempdir(), "recipe_writer")
    os.makedirs(out, exist_ok=True)
    config = GPT2Config(vocab_size=len(WORDS), n_positions=CONTEXT, n_embd=192, n_layer=4, n_head=6,
                        bos_token_id=INDEX["<bos>"], eos_token_id=INDEX["<eos>"])
    model = GPT2LMHeadModel(config)
    print(f"{model.num_parameters() / 1e6:.1f} M parameters, {len(WORDS)} words")
    args = TrainingArguments(
        output_dir=out,
        per_device_train_batch_size=8,
        max_steps=5000,
        learning_rate=5e-4,
        warmup_steps=50,
        logging_steps=2,
        save_strategy="no",
        disable_tqdm=True,
        report_to=[],
        no_cuda=True,
    )
    starts = [("chop", "onion"), ("boil", "rice"), ("whisk", "egg"), ("roast", "carrot")]
    trainer = Trainer(model=model, args=args, train_dataset=Recipes(6000, seed=1),
                      callbacks=[SampleRecipes(os.path.join(out, "samples.txt"), starts)])
    trainer.train()


if __name__ == "__main__":
    main()
