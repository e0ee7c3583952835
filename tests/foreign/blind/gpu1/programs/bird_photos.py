# python: gpu
# expected: dataloader-workers [also accepted: serial-map, input-bound]
# verdict: slow
# seconds: 30
# where: Image.open
# Why: photos are decoded and augmented one by one in the training process (no workers); a batch takes half a second, the step on the GPU
# a small part of it.
"""Fine-grained bird photos with a ViT, from scratch."""
import io
import tempfile
import time

import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T
from transformers import Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification

SPECIES = 64


def draw_photos(count):
    """JPEG files in memory: each species has its own pattern of colours."""
    rng = np.random.default_rng(31)
    patterns = rng.integers(0, 256, (SPECIES, 9, 12, 3))
    photos = []
    for _ in range(count):
        species = int(rng.integers(SPECIES))
        colours = np.clip(patterns[species] + rng.normal(0, 30, (9, 12, 3)), 0, 255).astype(np.uint8)
        photo = Image.fromarray(colours).resize((640, 480), Image.BICUBIC)
        grain = rng.integers(0, 24, (480, 640, 1), dtype=np.uint8)
        photo = Image.fromarray(np.clip(np.asarray(photo, dtype=np.int16) + grain, 0, 255).astype(np.uint8))
        file = io.BytesIO()
        photo.save(file, "JPEG", quality=90)
        photos.append((file.getvalue(), species))
    return photos


class Birds(torch.utils.data.Dataset):
    def __init__(self, photos, length):
        self.photos, self.length = photos, length
        self.augment = T.Compose([
            T.RandomResizedCrop(224, scale=(0.4, 1.0)), T.RandomHorizontalFlip(), T.ColorJitter(0.3, 0.3, 0.3, 0.05),
            T.ToTensor(), T.Normalize([0.5, 0.5, 0.5], [0.25, 0.25, 0.25])])

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        data, species = self.photos[index % len(self.photos)]
        photo = Image.open(io.BytesIO(data)).convert("RGB")
        return {"pixel_values": self.augment(photo), "labels": species}


class Report(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        self.began = time.time()

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step} loss {float(logs['loss']):.4f} t {time.time() - self.began:.1f}", flush=True)


def main():
    config = ViTConfig(hidden_size=768, num_hidden_layers=8, num_attention_heads=12, intermediate_size=3072, image_size=224,
                       patch_size=16, num_labels=SPECIES)
    model = ViTForImageClassification(config)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="birds-"),
        per_device_train_batch_size=64,
        learning_rate=3e-4,
        bf16=torch.cuda.is_available(),
        num_train_epochs=20,
        logging_steps=2,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_num_workers=0,
    )
    Trainer(model=model, args=arguments, train_dataset=Birds(draw_photos(200), 100_000), callbacks=[Report()]).train()


if __name__ == "__main__":
    main()
