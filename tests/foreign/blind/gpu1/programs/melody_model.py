# python: gpu
# expected: batch-too-small [also accepted: launch-bound]
# verdict: slow
# seconds: 30
# where: per_device_train_batch_size=2
# Why: two melodies of 128 notes per step: the GPU is idle for most of the step, which costs the same for sixty-four.
"""Continue folk melodies with a small GPT-2, from scratch."""
import tempfile
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

NOTES, LENGTH = 1024, 128


class Melodies(torch.utils.data.Dataset):
    """A phrase of sixteen notes comes back eight times, at another pitch each time."""

    def __init__(self, count):
        generator = torch.Generator().manual_seed(41)
        phrases = torch.randint(NOTES // 2, (count, 1, 16), generator=generator)
        pitches = torch.randint(12, (count, 8, 1), generator=generator)
        self.melodies = (phrases + pitches).view(count, LENGTH)

    def __len__(self):
        return len(self.melodies)

    def __getitem__(self, index):
        return {"input_ids": self.melodies[index], "labels": self.melodies[index]}


class Report(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        self.began = time.time()

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            melodies = state.global_step * args.per_device_train_batch_size
            print(f"step {state.global_step} melodies {melodies} loss {float(logs['loss']):.4f} "
                  f"{melodies / (time.time() - self.began):.0f} melodies/s", flush=True)


def main():
    config = GPT2Config(vocab_size=NOTES, n_positions=LENGTH, n_embd=512, n_layer=12, n_head=8, bos_token_id=0, eos_token_id=0,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = GPT2LMHeadModel(config)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="melodies-"),
        per_device_train_batch_size=2,
        learning_rate=3e-4,
        bf16=torch.cuda.is_available(),
        num_train_epochs=100,
        logging_steps=10,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    Trainer(model=model, args=arguments, train_dataset=Melodies(100_000), callbacks=[Report()]).train()


if __name__ == "__main__":
    main()
