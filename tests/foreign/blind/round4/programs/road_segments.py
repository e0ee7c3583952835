# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=passive
# Why: Looks suspicious because gradients are accumulated over 8 batches so that optimizer steps come seldom, the progress bar is off, and a checkpoint is written now and then; the convolutions take the time.
import tempfile
import warnings

warnings.filterwarnings("ignore")
import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIDE = 64


def aerial(count=512, seed=0):
    g = torch.Generator().manual_seed(seed)
    images = torch.rand(count, 3, SIDE, SIDE, generator=g) * 0.5
    masks = torch.zeros(count, 1, SIDE, SIDE)
    position = torch.randint(8, SIDE - 8, (count, 2), generator=g)
    for i, (y, x) in enumerate(position.tolist()):
        masks[i, 0, y - 2:y + 2] = 1
        masks[i, 0, :, x - 2:x + 2] = 1
    return TensorDataset(images + 0.4 * masks, masks)


def block(n_in, n_out):
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1), nn.GroupNorm(8, n_out), nn.ReLU(),
        nn.Conv2d(n_out, n_out, 3, padding=1), nn.GroupNorm(8, n_out), nn.ReLU(),
    )


class RoadNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.down = block(3, 32)
        self.middle = block(32, 64)
        self.up = block(96, 32)
        self.out = nn.Conv2d(32, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.middle(nn.functional.max_pool2d(a, 2))
        b = nn.functional.interpolate(b, scale_factor=2.0)
        return self.out(self.up(torch.cat([a, b], dim=1)))

    def training_step(self, batch, batch_idx):
        images, masks = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self(images), masks)
        if batch_idx % 8 == 0:
            print(f"epoch {self.current_epoch} batch {batch_idx} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 1e-3)


def main():
    L.seed_everything(3)
    loader = DataLoader(aerial(), batch_size=8, shuffle=True)
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(
            max_epochs=100,
            accelerator="cpu",
            accumulate_grad_batches=8,
            default_root_dir=folder,
            callbacks=[ModelCheckpoint(folder, every_n_train_steps=16)],
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(RoadNet(), loader)


if __name__ == "__main__":
    main()
