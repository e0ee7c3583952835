# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a step is four small batches (gradient accumulation), padding makes every batch another length, the losses jump, and
# there is a short evaluation now and then. The transformer is the work.
"""Which syllable does the nightingale sing next? A GPT-2 from a config (Hugging Face Trainer)."""
import random
import tempfile
import warnings

import torch
from torch.utils.data import Dataset

warnings.filterwarnings("ignore")
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

SYLLABLES, PAD = 90, 90


class Songs(Dataset):
    """Songs are drawn from a syntax of phrases; each phrase is repeated a few times."""

    def __init__(self, n, seed):
        syntax = random.Random(77)
        phrases = [[syntax.randrange(SYLLABLES) for _ in range(syntax.randrange(3, 8))] for _ in range(40)]
        follow = [[syntax.randrange(40) for _ in range(3)] for _ in range(40)]
        rnd = random.Random(seed)
        self.songs = []
        for _ in range(n):
            song, p = [], rnd.randrange(40)
            length = rnd.randrange(32, 97)
            while len(song) < length:
                song += phrases[p] * rnd.randrange(1, 4)
                p = rnd.choice(follow[p])
            self.songs.append(song[:length])

    def __len__(self):
        return len(self.songs)

    def __getitem__(self, i):
        return self.songs[i]


def collate(songs):
    width = max(map(len, songs))
    ids = torch.full((len(songs), width), PAD)
    mask = torch.zeros(len(songs), width, dtype=torch.long)
    for i, song in enumerate(songs):
        ids[i, :len(song)] = torch.tensor(song)
        mask[i, :len(song)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step} epoch {state.epoch:.3f} loss {logs['loss']:.4f}", flush=True)
        elif logs and "eval_loss" in logs:
            print(f"step {state.global_step} held-out loss {logs['eval_loss']:.4f}", flush=True)


def main():
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=SYLLABLES + 1, n_positions=96, n_embd=128, n_layer=3, n_head=4,
                        bos_token_id=PAD, eos_token_id=PAD)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(prefix="song_"), per_device_train_batch_size=8,
                             per_device_eval_batch_size=16, gradient_accumulation_steps=4, max_steps=4000,
                             learning_rate=1e-3, warmup_steps=10, lr_scheduler_type="cosine", logging_steps=1,
                             evaluation_strategy="steps", eval_steps=40, save_strategy="steps", save_steps=80,
                             save_total_limit=1, report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=Songs(5000, 1),
                      eval_dataset=Songs(48, 2), data_collator=collate, callbacks=[Report()])
    print(f"{trainer.model.num_parameters():,} parameters", flush=True)
    trainer.train()


if __name__ == "__main__":
    main()
