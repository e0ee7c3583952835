# python: loops
# expected: learning-rate [also accepted: loss-oscillates, exploding-gradients]
# verdict: healthy|slow|stuck
# seconds: 40
# where: learning_rate=1.0
# Why: the learning rate of an SGD recipe (1.0) went into a Trainer that uses AdamW; the loss jumps up and stays far above where it began.
import os
import tempfile
import time

os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

VOCAB, LENGTH = 120, 48


class Poems(Dataset):
    """Verses with a rhyme: the second half answers the first."""

    def __init__(self, n=4000):
        rng = np.random.default_rng(61)
        steps = rng.choice([1, 2, 3, 5], size=(n, LENGTH // 2))
        first = (rng.integers(0, VOCAB, (n, 1)) + np.cumsum(steps, axis=1)) % VOCAB
        self.verses = np.concatenate([first, (first + 7) % VOCAB], axis=1)

    def __len__(self):
        return len(self.verses)

    def __getitem__(self, i):
        verse = torch.from_numpy(self.verses[i])
        return {"input_ids": verse, "labels": verse}


class Report(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        self.started = time.time()

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step}  loss {logs['loss']:.4f}  {time.time() - self.started:.1f} s", flush=True)


def main():
    set_seed(2)
    config = GPT2Config(vocab_size=VOCAB, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=4,
                        bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="poems_"), per_device_train_batch_size=32, num_train_epochs=40,
        learning_rate=3e-3, lr_scheduler_type="constant", logging_steps=5, save_strategy="no",
        report_to=[], disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model=model, args=arguments, train_dataset=Poems(), callbacks=[Report()])
    trainer.train()


if __name__ == "__main__":
    main()
