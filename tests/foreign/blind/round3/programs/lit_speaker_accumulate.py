# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# Why: the optimizer moves only every eighth batch (gradient accumulation) and its step counter goes up slowly; the batches come steadily and the
# cores are busy with the model.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl

SPEAKERS, MELS, FRAMES = 20, 40, 200


def utterances(n):
    g = torch.Generator().manual_seed(0)
    voice = torch.randn(SPEAKERS, MELS, 1, generator=g)
    who = torch.randint(0, SPEAKERS, (n,), generator=g)
    x = 0.5 * voice[who] + torch.randn(n, MELS, FRAMES, generator=g)
    return TensorDataset(x, who)


class SpeakerNet(pl.LightningModule):
    def __init__(self, width=160):
        super().__init__()
        self.frames = nn.Sequential(
            nn.Conv1d(MELS, width, 5, padding=2), nn.ReLU(), nn.BatchNorm1d(width),
            nn.Conv1d(width, width, 5, padding=4, dilation=2), nn.ReLU(), nn.BatchNorm1d(width),
            nn.Conv1d(width, width, 5, padding=6, dilation=3), nn.ReLU(), nn.BatchNorm1d(width),
            nn.Conv1d(width, 2 * width, 1), nn.ReLU())
        self.embed = nn.Linear(4 * width, 128)
        self.out = nn.Linear(128, SPEAKERS)

    def forward(self, x):
        h = self.frames(x)
        stats = torch.cat([h.mean(-1), h.std(-1)], dim=1)
        return self.out(F.relu(self.embed(stats)))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        if batch_idx % 8 == 0:
            print(f"epoch {self.current_epoch} batch {batch_idx} update {self.global_step} loss {loss.item():.4f}",
                  flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


loader = DataLoader(utterances(4000), batch_size=24, shuffle=True, drop_last=True)
trainer = pl.Trainer(max_epochs=100, accelerator="cpu", accumulate_grad_batches=8, gradient_clip_val=3.0,
                     logger=False, enable_checkpointing=False, enable_progress_bar=False,
                     enable_model_summary=False)
trainer.fit(SpeakerNet(), loader)
