# python: loops
# expected: healthy
# verdict: healthy
# env: OMP_WAIT_POLICY=passive
# seconds: 40
# Why: looks suspicious because the Trainer is silent (no bar, a log line every 20 steps), accumulates gradients and evaluates now and then; the steps are sound and even.
import tempfile
import warnings
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

warnings.filterwarnings("ignore")
VOCAB, LENGTH = 256, 48


class Notes(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        shift = np.random.default_rng(7).permutation(VOCAB)
        ids = np.empty((n, LENGTH), np.int64)
        ids[:, 0] = rng.integers(0, VOCAB, n)
        for t in range(1, LENGTH):
            jump = rng.random(n) < 0.15
            ids[:, t] = np.where(jump, rng.integers(0, VOCAB, n), shift[ids[:, t - 1]])
        self.ids = torch.from_numpy(ids)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i]}


def main():
    torch.manual_seed(99)
    config = GPT2Config(vocab_size=VOCAB, n_positions=LENGTH, n_embd=96, n_layer=2, n_head=4,
                        bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=8,
            per_device_eval_batch_size=16,
            gradient_accumulation_steps=2,
            max_steps=3000,
            learning_rate=1e-3,
            warmup_steps=50,
            logging_steps=20,
            evaluation_strategy="steps",
            eval_steps=120,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            no_cuda=True)
        Trainer(model, args, train_dataset=Notes(6000, 1), eval_dataset=Notes(64, 2)).train()


if __name__ == "__main__":
    main()
