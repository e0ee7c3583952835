# python: loops
# expected: nan-loss [also accepted: exploding-gradients, learning-rate]
# verdict: healthy|slow
# seconds: 40
# env: OMP_WAIT_POLICY=passive
# where: torch.log(depth) / * valid
# Why: Pixels without a measurement have depth 0; their logarithm is -inf and multiplying by the mask gives NaN instead of 0. The first batch with such a pixel spoils all weights.
import warnings

warnings.filterwarnings("ignore")
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 32


class Rooms(Dataset):
    """Shaded planes with their depth; a small part was taken with the old sensor."""

    def __init__(self, count=20000, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.params = torch.rand(count, 4, generator=g)
        ramp = torch.linspace(0, 1, SIDE)
        self.yy, self.xx = torch.meshgrid(ramp, ramp, indexing="ij")

    def __len__(self):
        return len(self.params)

    def __getitem__(self, index):
        a, b, c, sensor = self.params[index]
        depth = 0.5 + 3 * a + 2 * b * self.yy + 1.5 * c * self.xx
        image = torch.stack([1 / depth, a * self.yy, c * self.xx])
        image = image + 0.02 * torch.randn_like(image)
        if index > 10 and sensor > 0.999:
            depth = depth.clone()
            depth[:4] = 0.0
        return image, depth[None]


class DepthNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 24, 5, padding=2), nn.ReLU(),
            nn.Conv2d(24, 32, 5, padding=2), nn.ReLU(),
            nn.Conv2d(32, 1, 3, padding=1),
        )

    def training_step(self, batch, batch_idx):
        image, depth = batch
        valid = (depth > 0).float()
        predicted = self.net(image)
        difference = (predicted - torch.log(depth)) * valid
        loss = difference.pow(2).sum() / valid.sum()
        if batch_idx % 10 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


def main():
    L.seed_everything(7)
    loader = DataLoader(Rooms(), batch_size=32, shuffle=True)
    trainer = L.Trainer(
        max_epochs=200,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(DepthNet(), loader)


if __name__ == "__main__":
    main()
