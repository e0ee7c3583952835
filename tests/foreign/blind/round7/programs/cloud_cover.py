# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Lightning on tensors in memory without workers (it warns about that), noisy loss, and now and then a validation of a second or two: all as it should be.
import tempfile

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sky_images(n, seed):
    g = torch.Generator().manual_seed(seed)
    field = torch.randn(n, 1, 12, 12, generator=g)
    field = nn.functional.interpolate(field, size=48, mode="bicubic", align_corners=False)
    level = torch.rand(n, 1, 1, 1, generator=g) * 2 - 1
    cloud = torch.sigmoid(6 * (field - level))
    cover = cloud.mean((1, 2, 3))
    rgb = torch.cat([cloud, 0.6 * cloud + 0.2, 1 - 0.3 * cloud], 1)
    rgb = rgb + 0.3 * torch.randn(rgb.shape, generator=g)
    noise = 0.15 * torch.randn(n, generator=g)
    return TensorDataset(rgb, cover + noise)


class CoverNet(pl.LightningModule):
    def __init__(self):
        super().__init__()
        layers, cin = [], 3
        for cout in (16, 32, 64):
            layers += [nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(8, cout), nn.SiLU(),
                       nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(8, cout), nn.SiLU(), nn.AvgPool2d(2)]
            cin = cout
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(cin, 1)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3))).squeeze(1)

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val_mae", (self(x) - y).abs().mean(), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-4)


def main():
    pl.seed_everything(3)
    train = DataLoader(sky_images(6400, 0), batch_size=8, shuffle=True)
    val = DataLoader(sky_images(320, 1), batch_size=16)
    out = tempfile.mkdtemp(prefix="cover_")
    trainer = pl.Trainer(
        accelerator="cpu", max_epochs=100, val_check_interval=160, num_sanity_val_steps=0, logger=False,
        default_root_dir=out, callbacks=[ModelCheckpoint(dirpath=out, monitor="val_mae")],
    )
    trainer.fit(CoverNet(), train, val)


if __name__ == "__main__":
    main()
