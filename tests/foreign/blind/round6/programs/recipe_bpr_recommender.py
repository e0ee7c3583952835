# python: torch
# expected: hot-line [also accepted: input-bound]
# verdict: slow
# seconds: 25
# where: in self.cooked
# Why: negative sampling asks a list of 12000 pairs whether it holds a pair, for every sample; a set would answer at once.
"""Bayesian personalised ranking: which recipe will this cook like?"""
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

N_COOKS, N_RECIPES = 1500, 2500


class CookBook:
    def __init__(self, n_pairs, seed=2):
        self.random = random.Random(seed)
        taste = [self.random.randrange(25) for _ in range(N_COOKS)]
        pairs = set()
        while len(pairs) < n_pairs:
            cook = self.random.randrange(N_COOKS)
            if self.random.random() < 0.85:
                recipe = taste[cook] * 100 + int(self.random.paretovariate(1.1)) % 100
            else:
                recipe = self.random.randrange(N_RECIPES)
            pairs.add((cook, recipe))
        self.cooked = list(pairs)

    def draw(self, size):
        cooks, liked, other = [], [], []
        for cook, recipe in self.random.choices(self.cooked, k=size):
            candidate = self.random.randrange(N_RECIPES)
            while (cook, candidate) in self.cooked:
                candidate = self.random.randrange(N_RECIPES)
            cooks.append(cook)
            liked.append(recipe)
            other.append(candidate)
        return torch.tensor(cooks), torch.tensor(liked), torch.tensor(other)


class Ranker(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.cook = nn.Embedding(N_COOKS, dim)
        self.recipe = nn.Embedding(N_RECIPES, dim)
        self.bias = nn.Embedding(N_RECIPES, 1)
        self.mix = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, dim))
        nn.init.normal_(self.cook.weight, std=0.1)
        nn.init.normal_(self.recipe.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, cook, recipe):
        return (self.mix(self.cook(cook)) * self.recipe(recipe)).sum(1) + self.bias(recipe).squeeze(1)


def main():
    torch.manual_seed(2)
    book = CookBook(12000)
    model = Ranker()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-6)
    mark = time.perf_counter()
    smooth = None
    for step in range(1, 1000001):
        cook, liked, other = book.draw(256)
        loss = -F.logsigmoid(model(cook, liked) - model(cook, other)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
        if step % 20 == 0:
            print(f"[{step:6d}] bpr {smooth:.4f}  {(time.perf_counter() - mark) * 50:.1f} ms/step", flush=True)
            mark = time.perf_counter()


if __name__ == "__main__":
    main()
