# python: torch
# expected: mismatched-collective [also accepted: uneven-batches, rank-lost, straggler]
# verdict: stuck
# seconds: 40
# where: dist.all_reduce( / .join()
# Why: early stopping is decided by rank 0 alone, from its own validation loss; it leaves the loop and waits for the other process, which still
# waits for it in the next all_reduce.
import os
import socket
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def make_data(rank, n):
    g = torch.Generator().manual_seed(100 + rank)
    x = torch.randn(n, 40, generator=g)
    w = torch.randn(40, generator=torch.Generator().manual_seed(7))
    y = torch.tanh(x @ w / 6) + 0.5 * torch.randn(n, generator=g)
    return x, y


def average_gradients(model, world):
    flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def train(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(40, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = make_data(rank, 6000)
    x_val, y_val = make_data(50, 2000)
    best, bad, patience = float("inf"), 0, 6
    for step in range(1, 100001):
        pick = torch.randint(0, len(x), (256,))
        loss = nn.functional.mse_loss(model(x[pick])[:, 0], y[pick])
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model, world)
        optimizer.step()
        if step % 20 == 0:
            with torch.no_grad():
                val = nn.functional.mse_loss(model(x_val)[:, 0], y_val).item()
            if rank == 0:
                print(f"step {step} loss {loss.item():.4f} val {val:.4f}", flush=True)
            if val < best:
                best, bad = val, 0
                best_state = {k: v.clone() for k, v in model.state_dict().items()}
            else:
                bad += 1
                if bad >= patience:
                    if rank == 0:
                        print(f"best validation loss {best:.4f}", flush=True)
                    model.load_state_dict(best_state)
                    break
    return model


if __name__ == "__main__":
    port = free_port()
    other = mp.get_context("spawn").Process(target=train, args=(1, 2, port))
    other.start()
    model = train(0, 2, port)
    other.join()
    torch.save(model.state_dict(), os.devnull)
    print("finished", flush=True)
