# python: loops
# expected: input-bound [also accepted: decode-saturated, hot-line]
# verdict: slow
# seconds: 30
# where: np.load(
# Why: every image that is asked for opens its camera's compressed archive and inflates all pictures in it to keep
# one; both workers do nothing else and the model waits. Inflated once per archive, the model is the work.
"""Tells zebra species apart by their stripes: a ViT from a config, camera-trap archives on disk."""
import os
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification

SPECIES = ("plains", "mountain", "grevy")
CAMERAS, PICTURES, SIDE = 12, 320, 64
FOLDER = os.path.join(tempfile.gettempdir(), "zebra_stripes_data")


def picture(rng, species):
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    tilt = rng.uniform(-0.5, 0.5)
    stripes = (5, 9, 14)[species] * rng.uniform(0.9, 1.1)
    wave = np.sin(2 * np.pi * stripes * (x + tilt * y) + rng.uniform(0, 6) + 0.8 * np.sin(5 * y + rng.uniform(0, 6)))
    coat = 128 + 90 * np.tanh(2 * wave)
    light = rng.uniform(0.6, 1.1) * np.array([1.0, 0.94, 0.85])
    return np.clip(coat[..., None] * light + rng.normal(0, 18, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)


def write_archives():
    os.makedirs(FOLDER, exist_ok=True)
    for camera in range(CAMERAS):
        path = os.path.join(FOLDER, f"camera_{camera:02d}.npz")
        if os.path.exists(path):
            continue
        rng = np.random.default_rng(camera)
        labels = rng.integers(0, len(SPECIES), PICTURES)
        images = np.stack([picture(rng, label) for label in labels])
        with open(path + ".part", "wb") as out:
            np.savez_compressed(out, images=images, labels=labels)
        os.replace(path + ".part", path)


class CameraTraps(Dataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".npz"))
        self.labels = [np.load(path)["labels"] for path in self.paths]

    def __len__(self):
        return len(self.paths) * PICTURES

    def __getitem__(self, index):
        camera, row = divmod(index % len(self), PICTURES)
        image = np.load(self.paths[camera])["images"][row]
        pixels = torch.from_numpy(image).permute(2, 0, 1).float() / 127.5 - 1.0
        return {"pixel_values": pixels, "labels": int(self.labels[camera][row])}


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in (logs or {}):
            print(f"step {state.global_step:5d}/{state.max_steps} loss {logs['loss']:.4f}", flush=True)


def main():
    write_archives()
    torch.manual_seed(2)
    traps = CameraTraps(FOLDER)
    config = ViTConfig(
        image_size=SIDE,
        patch_size=8,
        hidden_size=128,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=384,
        num_labels=len(SPECIES),
    )
    args = TrainingArguments(
        output_dir=os.path.join(tempfile.gettempdir(), "zebra_stripes_run"),
        per_device_train_batch_size=32,
        num_train_epochs=60,
        learning_rate=3e-4,
        warmup_steps=20,
        dataloader_num_workers=2,
        dataloader_pin_memory=False,
        logging_steps=5,
        save_strategy="no",
        disable_tqdm=True,
        report_to="none",
    )
    trainer = Trainer(ViTForImageClassification(config), args, train_dataset=traps, callbacks=[Report()])
    print(f"{len(traps)} pictures from {len(traps.paths)} cameras", flush=True)
    trainer.train()


if __name__ == "__main__":
    main()
