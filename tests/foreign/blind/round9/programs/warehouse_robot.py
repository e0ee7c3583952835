# python: plain
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: everything is a loop in Python on one core and the returns are noisy, but that is what Q-learning on a table is: each move
# depends on the one before, and no part of it stands out.
"""A robot learns its way through a warehouse with moving pallets: tabular Q-learning."""
import argparse
import random
import time

PLAN = """
####################
#S....#......#.....#
#.##..#..##..#..##.#
#.##.....##.....##.#
#....#.......#.....#
####.####.####..####
#........#.........#
#.##..#.....#..###.#
#.##..#..#..#..#...#
#........#.....#..G#
####################
""".split()
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Warehouse:
    def __init__(self, rng, slip):
        self.rng, self.slip = rng, slip
        self.free = {(r, c) for r, row in enumerate(PLAN) for c, cell in enumerate(row) if cell != "#"}
        self.start = next((r, c) for r, row in enumerate(PLAN) for c, cell in enumerate(row) if cell == "S")
        self.goal = next((r, c) for r, row in enumerate(PLAN) for c, cell in enumerate(row) if cell == "G")
        self.lanes = [(6, 4), (6, 14), (4, 7), (1, 9)]

    def reset(self):
        self.at, self.tick = self.start, 0
        return self.state()

    def state(self):
        return self.at, self.tick // 2 % 4

    def step(self, action):
        self.tick += 1
        if self.rng.random() < self.slip:
            action = self.rng.randrange(4)
        dr, dc = MOVES[action]
        cell = (self.at[0] + dr, self.at[1] + dc)
        reward = -1.0
        if cell not in self.free:
            cell, reward = self.at, -2.0
        elif cell == self.lanes[self.tick // 2 % 4]:
            reward = -8.0
        self.at = cell
        if cell == self.goal:
            return self.state(), 40.0, True
        return self.state(), reward, self.tick >= 300


class Learner:
    def __init__(self, rng, rate, gamma):
        self.rng, self.rate, self.gamma = rng, rate, gamma
        self.table = {}

    def values(self, state):
        if state not in self.table:
            self.table[state] = [0.0, 0.0, 0.0, 0.0]
        return self.table[state]

    def choose(self, state, curious):
        if self.rng.random() < curious:
            return self.rng.randrange(4)
        q = self.values(state)
        return q.index(max(q))

    def learn(self, state, action, reward, after, done):
        q = self.values(state)
        target = reward if done else reward + self.gamma * max(self.values(after))
        error = target - q[action]
        q[action] += self.rate * error
        return abs(error)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=3000000)
    p.add_argument("--rate", type=float, default=0.1)
    p.add_argument("--report", type=int, default=2000)
    args = p.parse_args()
    rng = random.Random(13)
    world, robot = Warehouse(rng, 0.08), Learner(rng, args.rate, 0.98)
    began, returns, errors, moves = time.time(), 0.0, 0.0, 0
    for episode in range(1, args.episodes + 1):
        curious = max(0.05, 0.6 * 0.9999 ** episode)
        state, done = world.reset(), False
        while not done:
            action = robot.choose(state, curious)
            after, reward, done = world.step(action)
            errors += robot.learn(state, action, reward, after, done)
            returns += reward
            moves += 1
            state = after
        if episode % args.report == 0:
            print(f"episode {episode:6d}  return {returns / args.report:8.2f}  loss {errors / moves:.4f}  "
                  f"moves {moves / args.report:6.1f}  {time.time() - began:.0f} s", flush=True)
            returns, errors, moves = 0.0, 0.0, 0


if __name__ == "__main__":
    main()
