# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: samples are drawn when they are asked for, in a worker process that sleeps most of the time; a checkpoint is written every
# 100 steps, and the loss of single steps jumps. The worker is far ahead of the model, which keeps the cores busy.
"""Plant diseases from the spots on a leaf: a ViT from its config, images drawn on the fly."""
import logging
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
DISEASES = ["rust", "blight", "mildew", "scab"]
SIZE = 48


class Leaves(Dataset):
    def __init__(self, n):
        self.n = n
        self.y, self.x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        kind = int(rng.integers(len(DISEASES)))
        leaf = np.empty((3, SIZE, SIZE), np.float32)
        leaf[0], leaf[1], leaf[2] = -0.5, 0.4, -0.6
        radius = (2.0, 5.0, 2.0, 5.0)[kind]
        tint = ((0.9, -0.5, 0.0), (0.4, -0.2, -0.1), (0.6, 0.5, 1.2), (-0.2, -0.8, 0.3))[kind]
        for cx, cy in rng.uniform(6, SIZE - 6, (5, 2)):
            spot = np.exp(-((self.x - cx) ** 2 + (self.y - cy) ** 2) / (2 * radius * radius))
            leaf += spot * np.array(tint, np.float32)[:, None, None]
        leaf += rng.standard_normal(leaf.shape, np.float32) * 1.1
        return {"pixel_values": leaf, "labels": kind}


class Lines(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            logging.info("step %d of %d, loss %.4f", state.global_step, state.max_steps, logs["loss"])


if __name__ == "__main__":
    torch.manual_seed(21)
    vit = ViTConfig(image_size=SIZE, patch_size=6, hidden_size=128, num_hidden_layers=3, num_attention_heads=4,
                    intermediate_size=256, num_labels=len(DISEASES))
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(out, num_train_epochs=3, per_device_train_batch_size=16, learning_rate=5e-4, warmup_steps=20,
                                 logging_steps=4, save_steps=100, save_total_limit=1, dataloader_num_workers=1,
                                 disable_tqdm=True, report_to=[], no_cuda=True, seed=21)
        Trainer(ViTForImageClassification(vit), args, train_dataset=Leaves(30000), callbacks=[Lines()]).train()
