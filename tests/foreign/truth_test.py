"""The ledger's judge judged: the stopwatch, shares and intervals; and neighbours over time."""
import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
from unittest import mock

import neighbours
import processes
import program
import truth

sys.path.insert(0, str(truth.programs.HERE / "truth"))
import stopwatch

# Writes a ledger that is told beforehand, whatever the program does.
STAND_IN = """\
#!/usr/bin/env python3
import json, signal, subprocess, sys
child = subprocess.Popen(sys.argv[5:])
signal.signal(signal.SIGINT, lambda *_: child.send_signal(signal.SIGINT))
child.wait()
with open(sys.argv[3], "w") as file:
    json.dump({"verdict": "healthy", "findings": [], "ledger": [
        {"account": "computes", "device": "none", "share": 0.7, "low": 0.6, "high": 0.8, "where": ""},
        {"account": "unknown", "device": "none", "share": 0.3, "low": 0.2, "high": 0.4, "where": ""}]}, file)
"""
PROGRAM = """\
# python: plain
# truth: step=computes, rest=sleeps
# Why: for the test.
import time
import stopwatch
stopwatch.started()
while True:
    with stopwatch.part("step"):
        sum(range(10_000))
    with stopwatch.part("rest"):
        time.sleep(0.3)
"""


def ledger(*rows):
    return [{"account": account, "share": share, "low": low, "high": high} for account, share, low, high in rows]


class Truth(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="truth-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_there_are_twelve_of_each_set_and_their_headers_are_understood(self):
        cases = truth.timed_programs()
        self.assertEqual(len(cases), 12 * len(truth.SETS))
        for case in cases:
            shown = program.copy_without_header(case.path, self.folder).read_text()
            self.assertNotRegex(shown, "#.*(" + "|".join(set(case.accounts.values())) + ")", case.name)
            used = re.findall(r'(?:part|enter)\("(\w+)"\)', shown) + re.findall(r'give\(.*, "(\w+)"\)', shown)
            self.assertLessEqual(set(used), set(case.accounts), case.name)
            for part in case.accounts:
                self.assertIn(f'"{part}"', shown, case.name)

    def test_the_accounts_are_those_of_the_trace(self):
        kinds = program.HERE.parents[1] / "headway/trace/kinds.h"
        texts = re.search(r"struct Texts<Account> \{(.*?)\};\n\}", kinds.read_text(), re.S) if kinds.is_file() else None
        if not texts:
            self.skipTest("headway/trace/kinds.h has no accounts yet")
        self.assertEqual(set(re.findall(r'"([^"]+)"', texts[1])), set(truth.ACCOUNTS))

    def test_an_inner_part_takes_its_time_from_the_outer_one(self):
        clock = iter((10.0, 10.0, 11.0, 14.0, 15.0))
        with mock.patch.object(stopwatch.time, "perf_counter", lambda: next(clock)):
            stopwatch.started()
            with stopwatch.part("outer"), mock.patch.dict(os.environ, {"TRUTH_FILE": ""}):
                with stopwatch.part("inner"):
                    pass
            stopwatch.give(0.5, "outer", "first")
        self.assertEqual(stopwatch.sums, {"outer": 1.5, "inner": 3.0, "first": 0.5})

    def test_what_is_in_no_part_is_the_loops_own_code(self):
        case = truth.Timed(self.folder, "plain", {"step": "computes", "more": "computes"})
        shares = truth.true_shares(case, {"total": 10, "parts": {"step": 6, "more": 3}})
        self.assertAlmostEqual(shares["computes"], 0.9)
        self.assertAlmostEqual(shares["runs own code"], 0.1)

    def test_an_account_over_several_states_of_the_device_is_one(self):
        stated = truth.stated_shares(ledger(("computes", 0.5, 0.47, 0.53), ("computes", 0.2, 0.16, 0.24)))
        share, low, high = stated["computes"]
        self.assertAlmostEqual(share, 0.7)
        self.assertAlmostEqual(low, 0.65)
        self.assertAlmostEqual(high, 0.75)

    def entries(self, true, *rows):
        return {entry.account: entry for entry in truth.compare(true, truth.stated_shares(ledger(*rows)))}

    def test_right_is_within_five_points_or_within_the_interval(self):
        found = self.entries({"computes": 0.5, "sleeps": 0.3, "logs": 0.2},
                             ("computes", 0.54, 0.53, 0.55), ("sleeps", 0.2, 0.05, 0.35), ("logs", 0.26, 0.25, 0.27))
        self.assertEqual([(found[a].right, found[a].covered) for a in ("computes", "sleeps", "logs")],
                         [(True, False), (True, True), (False, False)])

    def test_small_accounts_do_not_count_and_missing_ones_are_nought(self):
        found = self.entries({"computes": 0.895, "sleeps": 0.1, "logs": 0.005}, ("computes", 0.9, 0.89, 0.91))
        self.assertEqual(sorted(found), ["computes", "sleeps"])
        self.assertFalse(found["sleeps"].right)

    def test_what_no_account_states_is_unknown(self):
        stated = truth.stated_shares(ledger(("computes", 0.6, 0.5, 0.7), ("unknown", 0.1, 0.0, 0.2)))
        self.assertAlmostEqual(truth.unknown_share(stated), 0.4)

    def test_the_goals(self):
        good, near = truth.Entry("computes", 0.5, 0.5, 0.4, 0.6), truth.Entry("logs", 0.5, 0.52, 0.51, 0.53)
        wrong = truth.Entry("logs", 0.5, 0.7, 0.6, 0.8)
        self.assertTrue(truth.tables_hold([([good] * 9 + [near], 0.1)]))
        self.assertFalse(truth.tables_hold([([good] * 8 + [near], 0.1)]))
        self.assertFalse(truth.tables_hold([([good] * 19 + [wrong], 0.1)]))
        self.assertFalse(truth.tables_hold([([good], 0.0), ([good], 0.11)]))
        self.assertFalse(truth.tables_hold([]))

    def test_a_program_runs_and_both_sides_are_read(self):
        (self.folder / "nap.py").write_text(PROGRAM)
        shutil.copy(truth.programs.HERE / "truth" / "stopwatch.py", self.folder)
        stand_in = self.folder / "headway"
        stand_in.write_text(STAND_IN)
        stand_in.chmod(0o755)
        processes.adopt_orphans()
        told = argparse.Namespace(headway=str(stand_in), seconds=3)
        case = truth.read_timed(self.folder / "nap.py")
        written, said = truth.run_watched(case, told, {"plain": "/usr/bin/python3"})
        self.assertGreater(truth.true_shares(case, written)["sleeps"], 0.5)
        self.assertEqual(truth.stated_shares(said)["unknown"][0], 0.3)


class Neighbours(unittest.TestCase):
    COURSE = ((3, "healthy", ""), (28, "slow", neighbours.CAUSE), (57, "healthy", ""))

    def complaints(self, *rows, named=True):
        changes = [{"at_s": at_s, "verdict": word, "cause": cause} for at_s, word, cause in rows]
        return neighbours.complaints(changes, 20, 45, named)

    def test_they_are_named_and_forgotten_in_time(self):
        self.assertEqual(self.complaints(*self.COURSE), [])
        self.assertEqual(self.complaints(*self.COURSE, (76, "finished", "")), [])

    def test_every_way_to_fail_is_told(self):
        for rows, word in (((3, "slow", "input-bound"), *self.COURSE[1:]), "before they came"), \
                (((3, "healthy", ""),), "never was slow"), (self.COURSE[:2], "after their end"), \
                ((*self.COURSE, (70, "slow", neighbours.CAUSE)), "and then"):
            self.assertRegex("\n".join(self.complaints(*rows)), word)
        self.assertEqual(self.complaints(*self.COURSE, named=False), ["nobody was named"])

    def test_a_number_or_a_name_in_what_is_said_of_them_will_do(self):
        def said(text, cause=neighbours.CAUSE):
            return {"findings": [{"cause": cause, "evidence": [text]}]}

        self.assertTrue(neighbours.names_one(said("process 4711 uses a core"), [4711]))
        self.assertTrue(neighbours.names_one(said("python3 count_primes.py"), [4711]))
        self.assertFalse(neighbours.names_one(said("somebody"), [4711]))
        self.assertFalse(neighbours.names_one(said("process 4711", "input-bound"), [4711]))


if __name__ == "__main__":
    unittest.main()
