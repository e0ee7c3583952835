# python: loops
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: evaluation and checkpoints come now and then between the steps and each step of this little language model takes its time on the CPU; steady, only slow.
import os
import tempfile
import time

os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

VOCAB, LENGTH = 600, 60


class Recipes(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        phrases = np.random.default_rng(0).integers(1, VOCAB, (80, 12))
        self.texts = phrases[rng.integers(0, 80, (n, LENGTH // 12))].reshape(n, LENGTH)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        text = torch.from_numpy(self.texts[i])
        return {"input_ids": text, "labels": text}


class Report(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        self.started = time.time()

    def on_log(self, args, state, control, logs=None, **kwargs):
        figures = "  ".join(f"{k} {v:.4f}" for k, v in (logs or {}).items() if k in ("loss", "eval_loss"))
        if figures:
            print(f"step {state.global_step}  {figures}  {time.time() - self.started:.1f} s", flush=True)


def main():
    set_seed(6)
    config = GPT2Config(vocab_size=VOCAB, n_positions=LENGTH, n_embd=128, n_layer=3, n_head=4,
                        bos_token_id=0, eos_token_id=0)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="recipes_"), per_device_train_batch_size=8,
        per_device_eval_batch_size=32, num_train_epochs=10, learning_rate=3e-4, warmup_steps=20,
        evaluation_strategy="steps", eval_steps=20, save_steps=20, save_total_limit=2,
        logging_steps=2, report_to=[], disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=Recipes(4000, 1),
                      eval_dataset=Recipes(128, 2), callbacks=[Report()])
    trainer.train()


if __name__ == "__main__":
    main()
