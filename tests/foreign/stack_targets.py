"""Programs whose stacks are known, for every CPython from 3.8 on. Run: python stack_targets.py KIND

parked      eight threads, each in a chain of calls of its own depth, asleep at a line that is known. What is read must
            be exactly this.
rhythm      four threads that stand at one of two known lines each and change places all 200 ms: two readers that look
            within a few milliseconds see the same, except around a change.
busy        four threads that compute without a pause. Two readers never see the same, but every frame has to be one of
            the lines that exist, below the right caller.
adversary   threads that recurse up and down as fast as they can, with generators, exceptions and fresh code objects: the
            worst case for a reader that does not stop its target.

Each prints "ready" and then works until it is killed. Written without any construct newer than Python 3.8.
"""
import sys
import threading
import time


def park(depth, ticket):
    if depth > 0:
        return park(depth - 1, ticket)
    return stand(ticket)


def stand(ticket):
    while True:
        time.sleep(3600)


def parked():
    for ticket in range(8):
        threading.Thread(target=park, args=(ticket * 5, ticket), name="parked-%d" % ticket, daemon=True).start()
    time.sleep(0.3)


def left(period):
    time.sleep(period)


def right(period):
    time.sleep(period)


def sway(ticket):
    while True:
        left(0.2 + 0.01 * ticket)
        right(0.2 + 0.01 * ticket)


def rhythm():
    for ticket in range(4):
        threading.Thread(target=sway, args=(ticket,), name="sway-%d" % ticket, daemon=True).start()


class Worker:
    def __init__(self, ticket):
        self.ticket = ticket

    def outer(self):
        while True:
            total = self.middle(40)
            total += self.short()
        return total

    def middle(self, count):
        total = 0
        for i in range(count):
            total += self.inner(i)
        return total

    def inner(self, i):
        value = i
        for k in range(200):
            value = (value * 31 + k) % 1009
        return value

    def short(self):
        return sum(x * x for x in range(300))


def busy():
    for ticket in range(4):
        threading.Thread(target=Worker(ticket).outer, name="busy-%d" % ticket, daemon=True).start()


def climb(depth):
    if depth == 0:
        return 0
    return 1 + climb(depth - 1)


def count_down(n):
    while n:
        yield n
        n -= 1


def stumble(n):
    try:
        if n == 0:
            raise ValueError("bottom")
        return stumble(n - 1)
    except ValueError:
        return n


def fresh(n):
    scope = {}
    exec(compile("def made(x):\n    y = x\n    return y + %d\n" % n, "<made>", "exec"), scope)
    return scope["made"](n)


def restless(ticket):
    n = 0
    while True:
        n += 1
        climb(n * 7 % 60)
        sum(count_down(n % 30))
        stumble(n % 20)
        fresh(n % 100)


def adversary():
    for ticket in range(4):
        threading.Thread(target=restless, args=(ticket,), name="restless-%d" % ticket, daemon=True).start()


def main():
    {"parked": parked, "rhythm": rhythm, "busy": busy, "adversary": adversary}[sys.argv[1]]()
    print("ready", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
