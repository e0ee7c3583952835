# python: gpu
# expected: slow-callback
# verdict: slow
# seconds: 30
# Why: ModelCheckpoint writes weights and optimizer, three quarters of a gigabyte, every ten steps; writing takes longer than the
# ten steps.
"""Pretrain a phrase model for patents with Lightning."""
import tempfile
import time

import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, LENGTH, WIDTH, DEPTH, BATCH = 8192, 256, 768, 8, 64


class PhraseModel(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def training_step(self, batch, batch_idx):
        (words,) = batch
        hidden = torch.rand(words.shape, device=self.device) < 0.15
        x = self.words(words.masked_fill(hidden, 0)) + self.places
        logits = self.head(self.norm(self.encoder(x))[hidden])
        return F.cross_entropy(logits.float(), words[hidden])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-4)


class Report(Callback):
    def on_train_start(self, trainer, pl_module):
        self.began = time.time()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step % 5 == 0:
            print(f"step {trainer.global_step} loss {float(outputs['loss']):.4f} t {time.time() - self.began:.1f}", flush=True)


def draw_phrases(count):
    """Every phrase is made of a few terms that come back in it."""
    terms = torch.randint(1, VOCAB, (count, 16))
    picks = torch.randint(16, (count, LENGTH))
    return terms.gather(1, picks)


def main():
    pl.seed_everything(2)
    loader = DataLoader(TensorDataset(draw_phrases(20_000)), batch_size=BATCH, shuffle=True, drop_last=True)
    keep = ModelCheckpoint(dirpath=tempfile.mkdtemp(prefix="patents-"), every_n_train_steps=10, save_top_k=1)
    trainer = pl.Trainer(max_epochs=1000, precision="bf16-mixed", logger=False, enable_progress_bar=False,
                         enable_model_summary=False, callbacks=[Report(), keep])
    trainer.fit(PhraseModel(), loader)


if __name__ == "__main__":
    main()
