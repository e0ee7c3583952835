#!/usr/bin/env python3
"""The ledger against the truth: programs that time their own parts run under `headway run`, and the ledger of the
verdict is held against what they wrote to a file that headway is not told of.

    truth.py                     all of truth/, 30 s each
    truth.py --set truth_blind   twelve by an author who did not know the ledger (both: --set truth truth_blind)
    truth.py --only kelp         some
    truth.py --alone             without headway: what each program says of itself
    truth.py --json FILE         every account of every program

An account is right when its share is within 5 points of the truth, or the truth lies in the interval that is stated.
Accounts of less than 1% on both sides do not count. Exit status: 0 if every account is right, at least 90% of the
intervals hold the truth and unknown is at most 10% of each program; 1 if not; 2 if it could not be tried.
"""
import argparse
import dataclasses
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import examine
import processes
import program as programs
import run_foreign

SETS = ("truth", "truth_blind")
POINTS = 0.05
COUNTS = 0.01  # of the time, on either side
COVER = 0.9
UNKNOWN = 0.1
ACCOUNTS = ("unknown", "prepares", "computes", "launches", "waits for device", "waits for data", "makes data", "compiles",
            "validates", "checkpoints", "logs", "communicates", "collects garbage", "runs own code", "waits for lock",
            "waits for file lock", "waits for pipe", "waits for socket", "waits for child", "waits for terminal",
            "waits for disk", "sleeps", "no core: own threads", "no core: neighbours", "no core: quota", "pages")
REST = "runs own code"  # what is in no part: the loop itself
NO_CORE = "no core: own threads"  # what the kernel says that the thread waited for one, on a machine without neighbours


@dataclasses.dataclass
class Timed:
    """A program that times itself; what examine.py asks of a case."""
    path: pathlib.Path
    python: str
    accounts: dict  # part -> account
    seconds: int = 30
    environment: dict = dataclasses.field(default_factory=dict)
    how: str = "run"
    setup: tuple = ()
    wrap: tuple = ()
    trace: str = ""

    @property
    def name(self):
        return self.path.stem


@dataclasses.dataclass
class Entry:
    account: str
    true: float
    share: float
    low: float
    high: float

    @property
    def counts(self):
        return max(self.true, self.share) > COUNTS

    @property
    def covered(self):
        return self.low <= self.true <= self.high

    @property
    def right(self):
        return self.covered or abs(self.share - self.true) <= POINTS


def read_timed(path):
    fields = programs.fields_of(programs.header_lines(path.read_text()))
    accounts = dict(pair.strip().split("=") for pair in fields["truth"].split(","))
    strange = set(accounts.values()) - set(ACCOUNTS)
    if strange or fields["python"] not in programs.PYTHONS:
        raise SystemExit(f"{path}: bad header: {', '.join(strange) or fields['python']}")
    return Timed(path, fields["python"], accounts)


def timed_programs(sets=SETS):
    return [read_timed(path) for name in sets for path in sorted((programs.HERE / name).glob("*.py"))
            if path.name not in programs.NOT_PROGRAMS]


def true_shares(case, written):
    """Account -> share of the time from the first step on."""
    total, no_core = written["total"], written.get("no_core", {})
    shares = {REST: max(0.0, 1 - sum(written["parts"].values()) / total)}
    for part, seconds in written["parts"].items():
        account, waited = case.accounts[part], no_core.get(part, 0.0)
        shares[account] = shares.get(account, 0.0) + (seconds - waited) / total
        shares[NO_CORE] = shares.get(NO_CORE, 0.0) + waited / total
    return shares


def stated_shares(ledger):
    """Account -> (share, low, high), over all states of the device and all places; errors add up as squares."""
    sums = {}
    for entry in ledger:
        share, below, above = sums.get(entry["account"], (0.0, 0.0, 0.0))
        sums[entry["account"]] = (share + entry["share"], below + (entry["share"] - entry["low"]) ** 2,
                                  above + (entry["high"] - entry["share"]) ** 2)
    return {account: (share, max(0.0, share - math.sqrt(below)), min(1.0, share + math.sqrt(above)))
            for account, (share, below, above) in sums.items()}


def compare(true, stated):
    """The accounts that count, the largest first."""
    entries = [Entry(account, true.get(account, 0.0), *stated.get(account, (0.0, 0.0, 0.0)))
               for account in {*true, *stated} if account != "unknown"]
    return sorted((entry for entry in entries if entry.counts), key=lambda entry: -max(entry.true, entry.share))


def unknown_share(stated):
    """What is stated as unknown, and what is not stated at all."""
    return stated.get("unknown", (0.0,))[0] + max(0.0, 1 - sum(share for share, _, _ in stated.values()))


def tables_hold(tables):
    """`tables`: [(entries, unknown)] of each program."""
    entries = [entry for table, _ in tables for entry in table]
    return (bool(entries) and all(entry.right for entry in entries)
            and sum(entry.covered for entry in entries) >= COVER * len(entries)
            and all(unknown <= UNKNOWN for _, unknown in tables))


def read_truth(path):
    if not path.is_file():
        raise examine.NoVerdict("the program wrote no times")
    return json.loads(path.read_text())


def run_watched(case, options, pythons):
    """(truth, ledger), as written."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "times.json"
        case = dataclasses.replace(case, seconds=options.seconds, environment={"TRUTH_FILE": str(path)})
        verdict = examine.examine(case, options.headway, pythons)
        if not verdict.get("ledger"):
            raise examine.NoVerdict("the verdict has no ledger")
        return read_truth(path), verdict["ledger"]


def run_alone(case, options, pythons):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "times.json"
        case = dataclasses.replace(case, environment={"TRUTH_FILE": str(path)})
        spared = set(processes.descendants(os.getpid()))
        with open(pathlib.Path(folder) / "said.txt", "w+") as said, examine.start(
                [pythons[case.python], str(case.path)], cwd=folder, env=examine.environment(case), stdout=said,
                stderr=subprocess.STDOUT) as process:
            try:
                process.wait(options.seconds)
            except subprocess.TimeoutExpired:
                pass
            finally:
                examine.stop(process, spared)
            said.seek(0)
            text = said.read()
        if not path.is_file():
            raise examine.NoVerdict(f"the program wrote no times; it said: {text[-400:]}")
        return read_truth(path)


def show_alone(case, written):
    shares = true_shares(case, written)
    text = ", ".join(f"{account} {share:.3f}" for account, share in sorted(shares.items(), key=lambda pair: -pair[1]))
    print(f"{case.name:14} {written['total']:5.1f} s  {text}", flush=True)


def show(case, entries, unknown):
    print(f"{case.name}: unknown {unknown:.3f}{'' if unknown <= UNKNOWN else '  TOO MUCH'}")
    for entry in entries:
        mark = "" if entry.covered else "not in the interval" if entry.right else "WRONG"
        print(f"  {entry.account:22} true {entry.true:.3f}  said {entry.share:.3f} [{entry.low:.3f}, {entry.high:.3f}]"
              f"  {mark}", flush=True)


def summary(tables, problems):
    entries = [entry for table, _ in tables for entry in table]
    worst = max((unknown for _, unknown in tables), default=0.0)
    return (f"{sum(e.right for e in entries)} of {len(entries)} accounts right; {sum(e.covered for e in entries)} intervals"
            f" hold the truth; unknown at most {worst:.3f} in {len(tables)} programs; {len(problems)} without a ledger")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    run_foreign.add_tools(parser)
    parser.add_argument("--set", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--only", default="", help="a regular expression for the names")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    options, tables, problems, report = arguments(), [], [], []
    pythons = run_foreign.pythons_of(options)
    run_foreign.begin()
    run_foreign.say_load()
    for case in timed_programs(options.set):
        if not re.search(options.only, case.name):
            continue
        try:
            if not pythons[case.python]:
                raise examine.NoVerdict(f"no Python with {case.python}")
            if options.alone:
                show_alone(case, run_alone(case, options, pythons))
                continue
            written, ledger = run_watched(case, options, pythons)
        except examine.NoVerdict as problem:
            problems.append(case.name)
            print(f"{case.name}: {problem}", flush=True)
            continue
        stated = stated_shares(ledger)
        table = (compare(true_shares(case, written), stated), unknown_share(stated))
        show(case, *table)
        tables.append(table)
        report.append({"name": case.name, "unknown": table[1],
                       "accounts": [{**dataclasses.asdict(e), "right": e.right, "covered": e.covered} for e in table[0]]})
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"programs": report, "without": problems}, indent=1))
    if options.alone:
        return 1 if problems else 0
    print(summary(tables, problems))
    if not tables:
        return 2
    return 0 if tables_hold(tables) and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
