# python: torch
# expected: loss-oscillates [also accepted: learning-rate]
# verdict: slow|healthy
# seconds: 25
# where: lr= / loss
# Why: the step is as long as the valley is wide: the loss swings from one side to the other and never settles.
import torch


def main():
    torch.manual_seed(4)
    curves = torch.linspace(0.2, 1.0, 32)
    target = torch.randn(32)
    weights = torch.zeros(32, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=1.9995)
    step = 0
    while True:
        noise = 0.3 * torch.randn(512, 32)
        loss = (curves * (weights - target + noise.mean(0)) ** 2).sum() / 2 + 0.5 * (step % 2) * target.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for _ in range(3):
            torch.linalg.svd(torch.randn(160, 160))
        step += 1
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
