"""The examiner examined: headers, judgement, and a case from start to end under a stand-in for headway."""
import errno
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest
from unittest import mock

import examine
import judge
import mechanisms
import processes
import program
import stack_check
import who

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
OWN_PROGRAMS = program.programs_of("programs") + program.programs_of("held_out")
BLIND_PROGRAMS = [case for name in program.all_sets() if program.round_of(name) for case in program.programs_of(name)]
# Looks at a process as `headway attach` does, and says what its standard input is.
ATTACH_STAND_IN = """\
#!/usr/bin/env python3
import json, os, sys
print(json.dumps({"verdict": "healthy", "findings": [], "input": os.readlink(f"/proc/{sys.argv[2]}/fd/0")}))
"""


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

    def stand_in(self, text=STAND_IN):
        path = self.folder / "headway"
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        processes.adopt_orphans()
        return str(path)

    def shown(self, case):
        return program.copy_without_header(case.path, self.folder).read_text()

    def test_beside_others_it_is_in_time_to_say_first_that_they_take_the_cores(self):
        said = {**verdict(("serial-map", "high")), "changes": [
            {"at_s": 9, "verdict": "slow", "cause": "neighbours-take-cores"}, {"at_s": 40, "verdict": "slow", "cause": "serial-map"}]}
        self.assertFalse(judge.judge(self.case(), said).named_in_time)
        beside = judge.judge(self.case(), said, also_named=("neighbours-take-cores",))
        self.assertTrue(beside.named_in_time)
        self.assertTrue(beside.ok)

    def test_every_program_has_a_header_that_is_understood(self):
        for folder, faulty, healthy in ((program.FOLDER, 32, 13), (program.HELD_OUT, 11, 5)):
            cases = program.all_programs(folder)
            self.assertGreaterEqual(sum(not case.healthy for case in cases), faulty)
            self.assertGreaterEqual(sum(case.healthy for case in cases), healthy)
        for case in OWN_PROGRAMS + BLIND_PROGRAMS:
            self.assertIn(case.python, program.PYTHONS, case.name)
            self.assertIn(case.setup[0] if case.setup else "neighbour", mechanisms.MECHANISMS, case.name)
            for word in case.where:
                self.assertIn(word, self.shown(case), case.name)

    def test_no_program_gives_its_answer_away_below_the_header(self):
        for case in OWN_PROGRAMS:
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
        given = examine.examine(self.case(), self.stand_in(), {"plain": "/usr/bin/python3"})
        self.assertEqual(given["findings"][0]["cause"], "serial-map")
        self.assertNotIn("expected", given["source"])
        self.assertEqual(processes.descendants(os.getpid()), [])

    def test_a_program_finds_the_module_that_lies_beside_it(self):
        (self.folder / "loops.py").write_text("TURNS = 3\n")
        case = self.case(ONE.replace("import time\ntime.sleep(60)", "import loops\nraise SystemExit(loops.TURNS)"))
        self.assertEqual(examine.examine(case, self.stand_in(), {"plain": "/usr/bin/python3"})["exit_status"], 3)

    def test_the_examined_sits_at_a_terminal_where_nobody_types(self):
        seen = "import os, sys\nraise SystemExit(3 * sys.stdin.isatty() + 4 * os.path.samefile('/dev/fd/0', os.ttyname(0)))"
        case = self.case(ONE.replace("import time\ntime.sleep(60)", seen))
        self.assertEqual(examine.examine(case, self.stand_in(), {"plain": "/usr/bin/python3"})["exit_status"], 7)
        asks = self.case(ONE.replace("import time\ntime.sleep(60)", "open('/dev/tty').readline()\nraise SystemExit(5)"))
        given = examine.examine(asks, self.stand_in(), {"plain": "/usr/bin/python3"})
        self.assertNotIn(given["exit_status"], (0, 1, 5))

    def test_who_is_looked_at_while_he_runs_sits_at_one_too(self):
        case = self.case(ONE.replace("# verdict", "# how: attach\n# verdict"))
        given = examine.examine(case, self.stand_in(ATTACH_STAND_IN), {"plain": "/usr/bin/python3"})
        self.assertRegex(given["input"], "^/dev/pts/")
        self.assertEqual(processes.descendants(os.getpid()), [])

    def test_a_watcher_that_says_nothing_is_no_verdict(self):
        silent = self.folder / "headway"
        silent.write_text("#!/bin/sh\nexit 1\n")
        silent.chmod(0o755)
        with self.assertRaises(examine.NoVerdict):
            examine.examine(self.case(), str(silent), {"plain": "/usr/bin/python3"})

    def test_output_is_held_back_behind_a_pipe_and_not_at_a_desk(self):
        for shell in ({}, {"PYTHONUNBUFFERED": "1"}):
            with mock.patch.dict(os.environ, shell):
                self.assertEqual(examine.environment(self.case())["PYTHONUNBUFFERED"], "1")
                attached = self.case(ONE.replace("# verdict", "# how: attach\n# verdict"))
                self.assertNotIn("PYTHONUNBUFFERED", examine.environment(attached))

    def test_a_reason_may_be_longer_and_a_misspelt_line_is_refused(self):
        case = self.case(ONE.replace("# in two lines.", "# in two lines. So it\n# is: often.\n#\n# env: A=1"))
        self.assertEqual((case.why, case.environment), ("for the test, in two lines. So it is: often. ", {"A": "1"}))
        with self.assertRaises(SystemExit):
            self.case(ONE.replace("# verdict:", "# verdickt:"))

    def test_an_unknown_python_is_refused(self):
        with self.assertRaises(SystemExit):
            self.case(ONE.replace("python: plain", "python: fortran"))

    def changes(self, *rows):
        return [{"at_s": at_s, "verdict": word, "cause": cause} for at_s, word, cause in rows]

    def judged(self, *rows, text=ONE):
        return judge.judge(self.case(text), {**verdict(("serial-map", "high")), "changes": self.changes(*rows)})

    def test_changes_count_after_twenty_seconds(self):
        result = self.judged((1, "not-started", ""), (9, "healthy", ""), (19, "slow", "nan-loss"), (25, "slow", "serial-map"))
        self.assertEqual((result.late_changes, result.unsteady), (1, False))
        result = self.judged((1, "healthy", ""), (21, "slow", "serial-map"), (22, "healthy", ""))
        self.assertEqual((result.late_changes, result.unsteady), (2, True))

    def test_the_end_of_a_program_is_no_change_of_mind_but_another_cause_is(self):
        ended = ((1, "slow", "serial-map"), (30, "finished", "serial-map"))
        self.assertEqual(self.judged(*ended).late_changes, 0)
        self.assertEqual(self.judged(*ended, (31, "finished", "nan-loss")).late_changes, 1)

    def test_without_a_list_of_changes_nothing_is_known(self):
        result = judge.judge(self.case(), verdict(("serial-map", "high")))
        self.assertEqual((result.late_changes, result.named_s, result.named_in_time), (None, None, None))

    def test_stuck_is_named_sooner_than_slow(self):
        late = ((1, "healthy", ""), (16, "slow", "input-bound"), (40, "slow", "serial-map"))
        self.assertEqual((self.judged(*late).named_s, self.judged(*late).named_in_time), (16, True))
        self.assertFalse(self.judged(*late, text=ONE.replace("verdict: slow", "verdict: stuck")).named_in_time)
        self.assertFalse(self.judged((1, "healthy", "")).named_in_time)

    def test_what_is_stuck_is_timed_from_its_last_movement(self):
        changes = [{"at_s": 1, "verdict": "healthy", "cause": None},
                   {"at_s": 40, "verdict": "stuck", "cause": "serial-map", "still_s": 11}]
        stuck = self.case(ONE.replace("verdict: slow", "verdict: stuck"))
        result = judge.judge(stuck, {**verdict(("serial-map", "high")), "changes": changes})
        self.assertEqual((result.named_s, result.named_in_time), (11, True))
        changes.insert(1, {"at_s": 36, "verdict": "slow", "cause": "serial-map"})  # the name came before
        result = judge.judge(stuck, {**verdict(("serial-map", "high")), "changes": changes})
        self.assertEqual(result.named_s, 7)

    def test_a_case_for_machines_has_all_that_was_asked_for(self):
        told = judge.as_json(self.judged((1, "healthy", ""), (16, "slow", "serial-map")))
        self.assertEqual((told["set"], told["round"], told["right"], told["accused"]), ("", None, True, False))
        self.assertEqual(told["changes"][1]["at_s"], 16)

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

    def test_an_ordinary_user_is_one_and_may_be_refused_to_sample(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        event = "libc.syscall(298, bytes([1, 0, 0, 0, 112]) + bytes(107), 0, -1, -1, 0)"
        code = f"import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); print(os.getuid(), {event}, ctypes.get_errno())"
        for name in ("user", "user-without-perf"):
            said = subprocess.run([*who.ALL[name].prefix(), "/usr/bin/python3", "-c", code], capture_output=True, text=True)
            user, _, error = said.stdout.split()
            self.assertEqual(int(user), who.NUMBER, said.stderr)
            if name == "user-without-perf":
                self.assertEqual(int(error), errno.EPERM)

    def test_what_an_ordinary_user_cannot_make_is_refused(self):
        case = self.case(ONE.replace("# seconds", "# setup: cpu-quota 30\n# seconds"))
        with self.assertRaises(mechanisms.Refused):
            who.ALL["user"].check(case)

    def test_a_mechanism_that_is_refused_says_so(self):
        with self.assertRaises(mechanisms.Refused):
            with mechanisms.cgroup("no-such-controller", ("a", "1"), ("no.such.file", "1")):
                pass


if __name__ == "__main__":
    unittest.main()
