# python: loops
import tempfile

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, get_constant_schedule_with_warmup, set_seed

GENRES = 12
FRAMES, BANDS = 60, 40


class Tracks(Dataset):
    """Chroma-like frames; each genre has its own bands and rhythm."""

    def __init__(self, n):
        g = torch.Generator().manual_seed(21)
        self.genre = torch.randint(0, GENRES, (n,), generator=g)
        self.profile = torch.randn(GENRES, BANDS, generator=g)
        self.noise = torch.randn(64, FRAMES, BANDS, generator=g)

    def __len__(self):
        return len(self.genre)

    def __getitem__(self, i):
        k = int(self.genre[i])
        beat = torch.cos(torch.arange(FRAMES) * (0.1 + 0.05 * k)).unsqueeze(1)
        frames = self.profile[k] * (1 + 0.5 * beat) + self.noise[i % 64]
        return {"frames": frames, "labels": k}


class GenreTagger(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.inp = nn.Linear(BANDS, dim)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 4, 2 * dim, 0.1, batch_first=True), 2)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, GENRES)

    def forward(self, frames, labels=None):
        h = self.norm(self.layers(self.inp(frames)).mean(1))
        logits = self.out(h)
        loss = nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


def build_optimizer(net, lr, weight_decay):
    """No decay for biases and norms."""
    decay, plain = [], []
    for name, p in net.named_parameters():
        (plain if p.ndim == 1 or "norm" in name else decay).append(p)
    groups = [{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr)


def main():
    set_seed(13)
    model = GenreTagger()
    optimizer = build_optimizer(model, lr=1e-3, weight_decay=0.01)
    schedule = get_constant_schedule_with_warmup(optimizer, num_warmup_steps=10)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="genre_"), per_device_train_batch_size=16, num_train_epochs=50,
        logging_steps=5, save_strategy="no", report_to=[], no_cuda=True, seed=13,
    )
    trainer = Trainer(model=model, args=args, train_dataset=Tracks(8000), optimizers=(optimizer, schedule))
    trainer.train()


if __name__ == "__main__":
    main()
