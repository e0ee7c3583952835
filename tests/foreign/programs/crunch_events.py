# python: plain
# expected: worker-deadlock
# verdict: stuck
# seconds: 18
# where: with journal_lock
# Why: a thread writes a journal under a lock at the moment of the fork; the workers' copy of the lock stays taken.
import multiprocessing
import threading
import time

journal_lock = threading.Lock()
journal = []


def keep_journal():
    while True:
        with journal_lock:
            journal.append(time.time())
            time.sleep(0.4)


def features(event):
    with journal_lock:
        journal.append(event)
    return [event * k % 17 for k in range(32)]


def main():
    threading.Thread(target=keep_journal, daemon=True).start()
    time.sleep(0.1)
    context = multiprocessing.get_context("fork")
    weights = [0.0] * 32
    with context.Pool(4) as pool:
        for epoch in range(10):
            for row in pool.imap(features, range(2000), chunksize=8):
                weights = [w + 1e-4 * v for w, v in zip(weights, row)]
            print(f"epoch {epoch} norm {sum(w * w for w in weights):.3f}", flush=True)


if __name__ == "__main__":
    main()
