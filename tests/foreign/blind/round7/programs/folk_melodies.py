# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: A GPT-2 of its own size on two CPU cores: two melodies per batch, accumulated over 4, logged every 5 updates and saved now and then. The model is the work.
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed

NOTES = 130
CONTEXT = 256


def compose(n_notes, seed=0):
    """Tunes as a second-order chain over scale degrees with repeats of phrases."""
    rng = np.random.default_rng(seed)
    out, phrase = [], []
    while len(out) < n_notes:
        if phrase and rng.random() < 0.4:
            out += [min(NOTES - 1, p + int(rng.integers(0, 3))) for p in phrase]
            continue
        at = int(rng.integers(40, 80))
        phrase = []
        for step in rng.choice([-4, -2, -1, 0, 1, 2, 4], size=16):
            at = int(np.clip(at + step, 1, NOTES - 3))
            phrase.append(at)
        out += phrase
    return np.array(out[:n_notes])


class Melodies(Dataset):
    def __init__(self, notes):
        self.notes = torch.from_numpy(notes).long()

    def __len__(self):
        return (len(self.notes) - CONTEXT) // 32

    def __getitem__(self, i):
        chunk = self.notes[i * 32:i * 32 + CONTEXT]
        return {"input_ids": chunk, "labels": chunk}


if __name__ == "__main__":
    set_seed(5)
    config = GPT2Config(vocab_size=NOTES, n_positions=CONTEXT, n_embd=128, n_layer=2, n_head=4,
                        bos_token_id=0, eos_token_id=0, use_cache=False, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = GPT2LMHeadModel(config)
    print(f"{model.num_parameters() / 1e6:.1f}M parameters")
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="melodies_"),
        per_device_train_batch_size=2, gradient_accumulation_steps=4,
        learning_rate=4e-4, warmup_steps=50, lr_scheduler_type="cosine", max_steps=5000,
        logging_steps=5, save_steps=50, save_total_limit=1, report_to=[], no_cuda=True, disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=Melodies(compose(200_000)),
                      data_collator=default_data_collator)
    trainer.train()
