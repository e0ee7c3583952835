# python: torch
# expected: loader-not-picklable
# verdict: crashed
# seconds: 30
# where: DataLoader / enumerate(loader)
# Why: the workers are started by spawn, and the data set holds a lambda, which cannot be pickled.
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Notes(Dataset):
    def __init__(self):
        self.clean = lambda text: text.lower().strip()

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        word = self.clean(f" Note {index} ")
        return torch.tensor([float(ord(c)) for c in word[:6]]), index % 2


def main():
    loader = DataLoader(Notes(), batch_size=32, num_workers=2, multiprocessing_context="spawn")
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for step, (notes, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(notes), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
