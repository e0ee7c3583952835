# python: loops
# expected: worker-deadlock
# verdict: stuck|not-started
# seconds: 30
# Why: The parent has already used torch's OpenMP threads when it forks the fold processes; in the children that thread pool does not
# exist any more and the first parallel operation waits for it for ever. The parent waits in join.
import logging
import sys

import torch
import torch.multiprocessing as mp
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(processName)s %(message)s")
log = logging.getLogger("solar")

N_FOLDS = 2


def load_measurements():
    g = torch.Generator().manual_seed(3)
    x = torch.randn(24000, 192, generator=g) * 4 + 10
    w = torch.randn(192, 1, generator=g) / 14
    y = torch.sin((x - 10) / 4 @ w) + 0.05 * torch.randn(24000, 1, generator=g)
    return x, y


class YieldNet(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(192, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 1))


def fit_fold(fold, x, y):
    torch.manual_seed(fold)
    held_out = torch.arange(len(x)) % N_FOLDS == fold
    x_train, y_train = x[~held_out], y[~held_out]
    x_val, y_val = x[held_out], y[held_out]
    log.info("fold %d: %d train, %d held out", fold, len(x_train), len(x_val))
    model = YieldNet()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(10000):
        order = torch.randperm(len(x_train))
        for i, idx in enumerate(order.split(256)):
            loss = nn.functional.mse_loss(model(x_train[idx]), y_train[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % 20 == 0:
                log.info("fold %d epoch %d batch %d loss %.4f", fold, epoch, i, loss.item())
        with torch.no_grad():
            val = nn.functional.mse_loss(model(x_val), y_val)
        log.info("fold %d epoch %d validation %.4f", fold, epoch, val.item())


def main():
    x, y = load_measurements()
    x = (x - x.mean(0)) / x.std(0)
    cov = x.T @ x / len(x)
    log.info("condition of the inputs: %.1f", torch.linalg.cond(cov).item())

    folds = []
    for k in range(N_FOLDS):
        p = mp.Process(target=fit_fold, args=(k, x, y), name=f"fold-{k}")
        p.start()
        folds.append(p)
    for p in folds:
        p.join()
    log.info("all folds done")


if __name__ == "__main__":
    main()
