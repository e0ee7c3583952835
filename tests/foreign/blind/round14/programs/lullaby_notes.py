# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: a cell stepped in a Python loop, the state carried from piece to piece (but detached), gradients gathered over two pieces before an
# update, a slow warm-up and a noisy loss. Memory is steady and the loss falls.
"""Writes lullabies: a recurrent model of notes, trained on pieces that follow one another."""
import collections
import math
import random
import time

import torch
import torch.nn as nn

NOTES = "CDEFGABcdefgab-.|"
PIECE, TUNES, GATHER = 40, 24, 2


def compose(length, rng):
    """Phrases of eight notes over four chords; the last phrase of four repeats the first."""
    chords = ["CEGc", "FAcf", "GBdg", "ACea"]
    tune = []
    while len(tune) < length:
        phrases = []
        for place in range(3):
            chord = chords[rng.choice([0, 0, 1, 2, 3]) if place else 0]
            phrase = []
            while len(phrase) < 8:
                phrase.append(rng.choice(chord) if rng.random() < 0.8 else rng.choice(NOTES[:14]))
                if rng.random() < 0.3:
                    phrase.append("-")
            phrases.append(phrase[:8])
        for phrase in (*phrases, phrases[0]):
            tune += phrase + ["|"]
        tune[-1] = "."
    return torch.tensor([NOTES.index(note) for note in tune[:length]])


class LullabyCell(nn.Module):
    """A gated cell with layer normalisation inside the gates."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.mix = nn.Linear(inputs + hidden, 4 * hidden)
        self.norm = nn.LayerNorm(4 * hidden)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.norm(self.mix(torch.cat([x, h], 1))).chunk(4, 1)
        c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Lullabies(nn.Module):
    def __init__(self, hidden=160):
        super().__init__()
        self.hidden = hidden
        self.notes = nn.Embedding(len(NOTES), 32)
        self.lower, self.upper = LullabyCell(32, hidden), LullabyCell(hidden, hidden)
        self.out = nn.Linear(hidden, len(NOTES))

    def begin(self, tunes):
        return [tuple(torch.zeros(tunes, self.hidden) for _ in range(2)) for _ in range(2)]

    def forward(self, notes, state):
        low, high = state
        scores = []
        for x in self.notes(notes).unbind(1):
            low = self.lower(x, low)
            high = self.upper(low[0], high)
            scores.append(self.out(high[0]))
        return torch.stack(scores, 1), [low, high]


def main():
    rng = random.Random(4)
    torch.manual_seed(4)
    tunes = torch.stack([compose(PIECE * 60 + 1, rng) for _ in range(TUNES)])
    model = Lullabies()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 40))
    recent, updates, began = collections.deque(maxlen=8), 0, time.time()
    for epoch in range(500):
        state = model.begin(TUNES)
        for number, at in enumerate(range(0, tunes.shape[1] - 1, PIECE)):
            state = [tuple(part.detach() for part in layer) for layer in state]
            scores, state = model(tunes[:, at:at + PIECE], state)
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), tunes[:, at + 1:at + PIECE + 1].flatten())
            (loss / GATHER).backward()
            recent.append(loss.item())
            if number % GATHER == GATHER - 1:
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
                optimizer.zero_grad()
                warmup.step()
                updates += 1
                if updates % 2 == 0:
                    mean = sum(recent) / len(recent)
                    print(f"epoch {epoch + 1} update {updates} loss {mean:.4f} perplexity {math.exp(mean):.2f} "
                          f"({updates / (time.time() - began):.1f}/s)", flush=True)


if __name__ == "__main__":
    main()
