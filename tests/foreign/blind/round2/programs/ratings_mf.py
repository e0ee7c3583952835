# python: plain
# expected: healthy
# verdict: healthy
# env: OMP_WAIT_POLICY=passive
# seconds: 35
# how: attach
# Why: looks suspicious because it keeps one core busy and the other idle, in a plain loop without any framework; alternating least squares on small systems is what it is, and each sweep advances.
import numpy as np

USERS, MOVIES, RANK, REG = 900, 500, 16, 0.08
rng = np.random.default_rng(101)


def make_ratings():
    u = rng.normal(size=(USERS, 6))
    m = rng.normal(size=(MOVIES, 6))
    full = 3.5 + 0.35 * u @ m.T + 0.3 * rng.normal(size=(USERS, MOVIES))
    seen = rng.random((USERS, MOVIES)) < 0.12
    return np.where(seen, full, 0.0), seen


def lists(values, seen):
    return [(np.flatnonzero(row), v[row]) for row, v in zip(seen, values)]


def solve_side(own, other, entries):
    eye = REG * np.eye(RANK)
    for k, (idx, val) in enumerate(entries):
        if len(idx):
            a = other[idx]
            own[k] = np.linalg.solve(a.T @ a + len(idx) * eye, a.T @ val)


def rmse(users, movies, entries):
    total, count = 0.0, 0
    for k, (idx, val) in enumerate(entries):
        total += np.sum((movies[idx] @ users[k] - val) ** 2)
        count += len(idx)
    return np.sqrt(total / max(count, 1))


def main():
    values, seen = make_ratings()
    held = seen & (rng.random(seen.shape) < 0.1)
    train = seen & ~held
    centred = np.where(seen, values - values[train].mean(), 0.0)
    by_user, by_movie = lists(centred, train), lists(centred.T, train.T)
    test = lists(centred, held)
    restarts = 0
    while restarts < 60:
        users = 0.1 * rng.normal(size=(USERS, RANK))
        movies = 0.1 * rng.normal(size=(MOVIES, RANK))
        for sweep in range(1, 26):
            solve_side(users, movies, by_user)
            solve_side(movies, users, by_movie)
            print(f"start {restarts} sweep {sweep} train rmse {rmse(users, movies, by_user):.4f} "
                  f"held-out {rmse(users, movies, test):.4f}", flush=True)
        restarts += 1


if __name__ == "__main__":
    main()
