# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: Hugging Face Trainer with dynamic padding (uneven step times), gradient accumulation, a loss printed at every update, evaluation and
# a checkpoint now and then. The loss jumps about and falls; nothing is wrong.
"""Causal language model of ledger lines (a small GPT-2 from a config)."""
import random
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

WORDS = ["<pad>", "<s>", "</s>", "debit", "credit", "cash", "rent", "wages", "stock", "tax", "loan", "to", "from", "on", "net", "gross"]
DIGITS = [str(d) for d in range(10)]
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
VOCAB = {w: i for i, w in enumerate(WORDS + DIGITS + MONTHS + [".", ",", ";"])}


def entry(rng):
    side = rng.choice(["debit", "credit"])
    account = rng.choice(WORDS[5:11])
    amount = list(str(rng.randint(10, 99999))) + [".", rng.choice("05"), "0"]
    line = [side, account] + amount + ["to" if side == "debit" else "from", rng.choice(WORDS[5:11])]
    line += ["on", *str(rng.randint(1, 28)), rng.choice(MONTHS)]
    return line + (["net"] + amount if rng.random() < 0.4 else [])


class Ledger(torch.utils.data.Dataset):
    def __init__(self, pages, seed):
        rng = random.Random(seed)
        self.pages = []
        for _ in range(pages):
            words = ["<s>"]
            for _ in range(rng.randint(1, 6)):
                words += entry(rng) + [";"]
            self.pages.append([VOCAB[w] for w in words + ["</s>"]])

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, i):
        return self.pages[i]


def collate(pages):
    longest = max(map(len, pages))
    ids = torch.tensor([p + [0] * (longest - len(p)) for p in pages])
    mask = torch.tensor([[1] * len(p) + [0] * (longest - len(p)) for p in pages])
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


class Sampler(TrainerCallback):
    """Shows a line of the model's own every now and then."""

    def on_evaluate(self, args, state, control, model=None, **kwargs):
        names, ids = list(VOCAB), [1]
        with torch.no_grad():
            for _ in range(16):
                logits = model(torch.tensor([ids])).logits[0, -1]
                ids.append(int(torch.multinomial(logits.softmax(-1), 1)))
        print("sample:", " ".join(names[i] for i in ids[1:]))


def main():
    sys.stdout.reconfigure(line_buffering=True)
    set_seed(5)
    config = GPT2Config(
        vocab_size=len(VOCAB), n_positions=160, n_embd=160, n_layer=4, n_head=4, bos_token_id=1, eos_token_id=2)
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="ledger_"), per_device_train_batch_size=16, gradient_accumulation_steps=2,
        max_steps=2500, learning_rate=6e-4, warmup_steps=20, lr_scheduler_type="cosine", weight_decay=0.05,
        logging_steps=1, evaluation_strategy="steps", eval_steps=40, save_steps=80, save_total_limit=1,
        report_to=[], use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, data_collator=collate, train_dataset=Ledger(20000, 1), eval_dataset=Ledger(48, 2),
        callbacks=[Sampler()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
