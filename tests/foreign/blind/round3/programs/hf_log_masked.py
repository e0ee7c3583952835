# python: loops
# expected: healthy
# verdict: healthy
# seconds: 45
# env: OMP_WAIT_POLICY=PASSIVE
# Why: steps of half a second and more, a checkpoint and an evaluation now and then, few lines of output: a masked language model on two cores is
# simply slow, the cores compute all the time.
import os
import tempfile
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainerCallback, TrainingArguments

VOCAB, LENGTH, MASK = 2000, 128, 4
rng = np.random.default_rng(3)
templates = rng.integers(10, VOCAB, (60, LENGTH))


class LogLines(Dataset):
    def __init__(self, n):
        self.rows = templates[rng.integers(0, 60, n)]
        variable = rng.random(self.rows.shape) < 0.1
        self.rows = np.where(variable, rng.integers(10, VOCAB, self.rows.shape), self.rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = torch.from_numpy(self.rows[i])
        chosen = torch.rand(LENGTH) < 0.15
        return {"input_ids": torch.where(chosen, torch.tensor(MASK), ids),
                "labels": torch.where(chosen, ids, torch.tensor(-100)),
                "attention_mask": torch.ones(LENGTH, dtype=torch.long)}


class Show(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f}", flush=True)
        elif "eval_loss" in logs:
            print(f"step {state.global_step} eval loss {logs['eval_loss']:.4f}", flush=True)


model = BertForMaskedLM(BertConfig(vocab_size=VOCAB, hidden_size=192, num_hidden_layers=4, num_attention_heads=4,
                                   intermediate_size=768, max_position_embeddings=LENGTH))
args = TrainingArguments(output_dir=os.path.join(tempfile.mkdtemp(), "run"), per_device_train_batch_size=16,
                         per_device_eval_batch_size=32, max_steps=3000, learning_rate=5e-4, warmup_steps=10,
                         logging_steps=2, evaluation_strategy="steps", eval_steps=20, save_steps=20,
                         save_total_limit=1, report_to=[], disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=LogLines(4000), eval_dataset=LogLines(64),
                  callbacks=[Show()])
trainer.train()
