# python: loops
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# where: self.outputs.append
# Why: logits and masks of every step are kept until the end of an epoch of 3000 steps, to make one score of them;
# memory grows by more than a megabyte with each step. Counted as they come, three small numbers would be enough.
"""Water, mud and vegetation in drone pictures of a salt marsh (Lightning)."""
import lightning as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ("water", "mud", "vegetation")
SIZE = 80


def scenes(count, seed):
    """Smooth height maps; what grows where depends on the height, what is seen on what grows."""
    g = torch.Generator().manual_seed(seed)
    coarse = torch.randn(count, 1, 7, 7, generator=g)
    height = F.interpolate(coarse, size=(SIZE, SIZE), mode="bicubic", align_corners=True)[:, 0]
    masks = (height > -0.35).long() + (height > 0.4).long()
    colours = torch.tensor([[0.1, 0.2, 0.4], [0.4, 0.35, 0.3], [0.2, 0.45, 0.2]])
    pictures = colours[masks].permute(0, 3, 1, 2) + 0.25 * torch.randn(count, 3, SIZE, SIZE, generator=g)
    return pictures, masks.to(torch.uint8)


class Marsh(Dataset):
    def __init__(self, pictures, masks, length):
        self.pictures, self.masks, self.length = pictures, masks, length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        picture, mask = self.pictures[i % len(self.pictures)], self.masks[i % len(self.masks)].long()
        if i % 2:
            picture, mask = picture.flip(-1), mask.flip(-1)
        return picture, mask


def block(n_in, n_out):
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, padding=1), nn.BatchNorm2d(n_out), nn.ReLU())


class MarshNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.enter = block(3, 16)
        self.down = nn.Sequential(nn.MaxPool2d(2), block(16, 32), block(32, 32))
        self.up = nn.Upsample(scale_factor=2)
        self.leave = nn.Sequential(block(48, 16), nn.Conv2d(16, len(CLASSES), 1))
        self.both, self.either = [0] * len(CLASSES), [0] * len(CLASSES)

    def forward(self, x):
        fine = self.enter(x)
        return self.leave(torch.cat([fine, self.up(self.down(fine))], 1))

    def training_step(self, batch, batch_idx):
        pictures, masks = batch
        logits = self(pictures)
        loss = F.cross_entropy(logits, masks)
        guesses = logits.detach().argmax(1)
        for number in range(len(CLASSES)):
            guess, truth = guesses == number, masks == number
            self.both[number] += (guess & truth).sum().item()
            self.either[number] += (guess | truth).sum().item()
        if (batch_idx + 1) % 10 == 0:
            print(f"epoch {self.current_epoch} step {self.global_step + 1} loss {loss.item():.4f}", flush=True)
        return loss

    def on_train_epoch_end(self):
        for number, name in enumerate(CLASSES):
            both, either = self.both[number], self.either[number]
            print(f"epoch {self.current_epoch} IoU of {name}: {both / max(1, either):.3f}", flush=True)
        self.both, self.either = [0] * len(CLASSES), [0] * len(CLASSES)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    L.seed_everything(8)
    loader = DataLoader(Marsh(*scenes(600, 3), length=16 * 3000), batch_size=16, shuffle=True)
    trainer = L.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(MarshNet(), loader)
