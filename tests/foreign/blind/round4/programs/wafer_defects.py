# python: loops
# expected: hidden-validation [also accepted: slow-callback]
# verdict: slow
# seconds: 40
# env: OMP_WAIT_POLICY=passive
# where: val_check_interval=1 / trainer.fit / def validation_step
# Why: val_check_interval=1 was meant as "once per epoch" (that would be 1.0); as an integer it means after every batch, so nearly all the time goes to validation.
import warnings

warnings.filterwarnings("ignore")
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIDE = 32


def wafers(count, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 4, (count,), generator=g)
    maps = torch.rand(count, 1, SIDE, SIDE, generator=g) * 0.4
    yy, xx = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    radius = ((yy - SIDE / 2) ** 2 + (xx - SIDE / 2) ** 2).sqrt()
    patterns = [radius < 6, (radius > 12) & (radius < 15), yy > 22, (xx - yy).abs() < 3]
    for k, pattern in enumerate(patterns):
        maps[labels == k] += 0.5 * pattern.float()
    return TensorDataset(maps, labels)


class DefectNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(48 * 64, 4),
        )

    def training_step(self, batch, batch_idx):
        maps, labels = batch
        loss = nn.functional.cross_entropy(self.net(maps), labels)
        if self.global_step % 5 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, batch_idx):
        maps, labels = batch
        accuracy = (self.net(maps).argmax(1) == labels).float().mean()
        self.log("val_accuracy", accuracy)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 3e-4)


def main():
    L.seed_everything(1)
    train = DataLoader(wafers(12000, 0), batch_size=32, shuffle=True)
    val = DataLoader(wafers(1600, 1), batch_size=64)
    trainer = L.Trainer(
        max_epochs=500,
        accelerator="cpu",
        val_check_interval=1,
        num_sanity_val_steps=0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(DefectNet(), train, val)


if __name__ == "__main__":
    main()
