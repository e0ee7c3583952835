# python: plain
# expected: healthy
# verdict: healthy
# how: attach
# seconds: 30
# Why: tabular Q-learning in pure Python: one core busy, no framework, no arrays, the reward long since at its best; the Python loop is the training itself.
import random
import time

SIZE, EPISODES = 12, 20_000_000
MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))
RANKS = ((0, 0), (0, SIZE - 1), (SIZE - 1, 0), (SIZE - 1, SIZE - 1))


def make_walls(rng):
    walls = set()
    while len(walls) < 20:
        cell = (rng.randrange(SIZE), rng.randrange(SIZE))
        if cell not in RANKS:
            walls.add(cell)
    return walls


class City:
    def __init__(self, rng):
        self.rng, self.walls = rng, make_walls(rng)

    def reset(self):
        while True:
            self.taxi = (self.rng.randrange(SIZE), self.rng.randrange(SIZE))
            if self.taxi not in self.walls:
                break
        self.goal = self.rng.randrange(len(RANKS))
        return self.taxi, self.goal

    def drive(self, move):
        row, col = self.taxi[0] + MOVES[move][0], self.taxi[1] + MOVES[move][1]
        if 0 <= row < SIZE and 0 <= col < SIZE and (row, col) not in self.walls:
            self.taxi = (row, col)
        arrived = self.taxi == RANKS[self.goal]
        return (self.taxi, self.goal), (10.0 if arrived else -0.2), arrived


def episode(city, values, rng, explore, rate=0.2, discount=0.97):
    state, total = city.reset(), 0.0
    for _ in range(200):
        q = values.setdefault(state, [0.0] * 4)
        move = rng.randrange(4) if rng.random() < explore else q.index(max(q))
        after, reward, done = city.drive(move)
        best = 0.0 if done else max(values.setdefault(after, [0.0] * 4))
        q[move] += rate * (reward + discount * best - q[move])
        total += reward
        state = after
        if done:
            break
    return total


def main():
    rng = random.Random(3)
    city, values = City(rng), {}
    started, recent = time.time(), 0.0
    for number in range(1, EPISODES + 1):
        explore = max(0.05, 1.0 - number / 4000)
        recent += episode(city, values, rng, explore)
        if number % 20000 == 0:
            print(f"episode {number}  mean reward {recent / 20000:.3f}  states {len(values)}  "
                  f"{time.time() - started:.1f} s", flush=True)
            recent = 0.0


if __name__ == "__main__":
    main()
