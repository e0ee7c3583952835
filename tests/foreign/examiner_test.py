"""The examiner examined: headers, judgement, and a case from start to end under a stand-in for headway."""
import os
import pathlib
import shutil
import stat
import tempfile
import unittest

import examine
import judge
import mechanisms
import processes
import program
import stack_check

# Runs the command as `headway run` does and writes the verdict it was told to give.
STAND_IN = """\
#!/usr/bin/env python3
import json, os, signal, subprocess, sys
out, command = sys.argv[3], sys.argv[5:]
child = subprocess.Popen(command)
signal.signal(signal.SIGINT, lambda *_: child.send_signal(signal.SIGINT))
status = child.wait()
with open(out, "w") as file:
    json.dump({"verdict": "slow", "findings": [{"cause": "serial-map", "severity": "high", "where": "one.py:3"}],
               "seconds_to_verdict": 1.5, "exit_status": status, "source": open(command[-1]).read()}, file)
"""
ONE = """\
# python: plain
# expected: serial-map [also accepted: input-bound]
# verdict: slow
# seconds: 2
# where: time.sleep
# Why: for the test,
# in two lines.
import time
time.sleep(60)
"""
EVERY_PROGRAM = program.all_programs() + program.all_programs(program.HELD_OUT)


def verdict(*findings, word="slow"):
    return {"verdict": word, "findings": [{"cause": cause, "severity": severity, "where": ""}
                                          for cause, severity in findings]}


class Examiner(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="examiner-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def case(self, text=ONE):
        path = self.folder / "one.py"
        path.write_text(text)
        return program.read_program(path)

    def shown(self, case):
        return program.copy_without_header(case.path, self.folder).read_text()

    def test_every_program_has_a_header_that_is_understood(self):
        for folder, faulty, healthy in ((program.FOLDER, 32, 13), (program.HELD_OUT, 11, 5)):
            cases = program.all_programs(folder)
            self.assertGreaterEqual(sum(not case.healthy for case in cases), faulty)
            self.assertGreaterEqual(sum(case.healthy for case in cases), healthy)
        for case in EVERY_PROGRAM:
            self.assertIn(case.python, ("tensorflow", "torch", "plain"), case.name)
            self.assertIn(case.setup[0] if case.setup else "neighbour", mechanisms.MECHANISMS, case.name)
            for word in case.where:
                self.assertIn(word, self.shown(case), case.name)

    def test_no_program_gives_its_answer_away_below_the_header(self):
        for case in EVERY_PROGRAM:
            shown = self.shown(case).lower()
            for word in (case.expected, case.expected.replace("-", "_"), "fault", "#"):
                if word not in ("healthy", "crashed"):
                    self.assertNotRegex(shown, rf"(?<![a-z]){word}", case.name)

    def test_a_cause_without_a_page_is_refused(self):
        with self.assertRaises(SystemExit):
            self.case(ONE.replace("serial-map", "bad-luck"))

    def test_the_examined_sees_no_header_and_the_same_line_numbers(self):
        case = self.case()
        other = self.folder / "copy"
        other.mkdir()
        shown = program.copy_without_header(case.path, other).read_text()
        self.assertNotIn("serial-map", shown)
        self.assertEqual(shown.splitlines()[8], "time.sleep(60)")

    def test_the_first_loud_finding_counts(self):
        case = self.case()
        self.assertTrue(judge.judge(case, verdict(("input-bound", "warning"))).top1)
        result = judge.judge(case, verdict(("nan-loss", "high"), ("serial-map", "warning")))
        self.assertEqual((result.top1, result.top3), (False, True))
        self.assertFalse(judge.judge(case, verdict(("serial-map", "info"))).top3)

    def test_where_there_is_nothing_to_repair_saying_it_is_enough(self):
        case = self.case(ONE.replace("# verdict", "# severity: info\n# verdict"))
        self.assertTrue(judge.judge(case, verdict(("serial-map", "info"))).top1)

    def test_a_healthy_program_must_not_be_accused(self):
        case = self.case(ONE.replace("serial-map [also accepted: input-bound]", "healthy"))
        self.assertTrue(judge.judge(case, verdict(("serial-map", "info"))).ok)
        self.assertFalse(judge.judge(case, verdict(("serial-map", "warning"))).ok)
        self.assertFalse(judge.no_verdict(case, "silent").ok)

    def test_a_healthy_program_may_have_something_said_of_it_that_its_header_accepts(self):
        case = self.case(ONE.replace("serial-map [", "healthy ["))
        self.assertTrue(judge.judge(case, verdict(("input-bound", "warning"))).ok)
        self.assertFalse(judge.judge(case, verdict(("input-bound", "warning"), ("nan-loss", "warning"))).ok)

    def test_a_crash_is_named_as_such_and_nothing_is_blamed(self):
        case = self.case(ONE.replace("serial-map [also accepted: input-bound]", "crashed"))
        self.assertTrue(judge.judge(case, {**verdict(word="crashed"), "sentence": "one.py:9"}).line_named)
        self.assertFalse(judge.judge(case, verdict(("nan-loss", "high"), word="crashed")).ok)

    def test_a_case_runs_is_stopped_and_leaves_nobody_behind(self):
        stand_in = self.folder / "headway"
        stand_in.write_text(STAND_IN)
        stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
        processes.adopt_orphans()
        given = examine.examine(self.case(), str(stand_in), {"plain": "/usr/bin/python3"})
        self.assertEqual(given["findings"][0]["cause"], "serial-map")
        self.assertNotIn("expected", given["source"])
        self.assertEqual(processes.descendants(os.getpid()), [])

    def test_a_program_finds_the_module_that_lies_beside_it(self):
        stand_in = self.folder / "headway"
        stand_in.write_text(STAND_IN)
        stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
        (self.folder / "loops.py").write_text("TURNS = 3\n")
        processes.adopt_orphans()
        case = self.case(ONE.replace("import time\ntime.sleep(60)", "import loops\nraise SystemExit(loops.TURNS)"))
        self.assertEqual(examine.examine(case, str(stand_in), {"plain": "/usr/bin/python3"})["exit_status"], 3)

    def test_a_watcher_that_says_nothing_is_no_verdict(self):
        silent = self.folder / "headway"
        silent.write_text("#!/bin/sh\nexit 1\n")
        silent.chmod(0o755)
        with self.assertRaises(examine.NoVerdict):
            examine.examine(self.case(), str(silent), {"plain": "/usr/bin/python3"})

    def test_a_torn_stack_is_seen(self):
        lines = stack_check.LINES

        def line(text, after="def "):
            return next(i for i, l in enumerate(lines, 1) if text in l and after not in l)

        base = [("run", "threading.py", 1), ("_bootstrap", "threading.py", 2)]
        good = [("climb", stack_check.NAME, line("1 + climb(")), ("restless", stack_check.NAME, line("climb(n"))]
        self.assertEqual(stack_check.fault_in(good + base), "")
        torn = [good[0], ("restless", stack_check.NAME, line("stumble(n % 20)"))]
        self.assertIn("does not call climb", stack_check.fault_in(torn + base))
        self.assertIn("ends in", stack_check.fault_in(good))

    def test_a_mechanism_that_is_refused_says_so(self):
        with self.assertRaises(mechanisms.Refused):
            with mechanisms.cgroup("no-such-controller", ("a", "1"), ("no.such.file", "1")):
                pass


if __name__ == "__main__":
    unittest.main()
