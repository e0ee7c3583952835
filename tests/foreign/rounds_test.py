"""Blind rounds: their first run is written down once, and the page that shows them says what is written."""
import argparse
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import judge
import program
import rounds
import run_foreign
import write_score

PROGRAM = """\
# python: plain
# expected: {expected}
# verdict: slow
# seconds: 1
# Why: for the test.
"""
NAME = "blind/round1"
# Says the same of everything.
STAND_IN = """\
#!/usr/bin/env python3
import json, sys
with open(sys.argv[3], "w") as file:
    json.dump({"verdict": "slow", "findings": [{"cause": "serial-map", "severity": "high", "where": ""}]}, file)
"""


def options(**more):
    told = {"set": [NAME], "first_run": False, "list": False, "only": "", "beside": 0, "most_seconds": 1 << 30,
            "headway": "headway", "watcher": "root"}
    return argparse.Namespace(**{**told, **more})


class Rounds(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rounds-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.here = self.folder / "tests/foreign"
        (self.here / NAME / "programs").mkdir(parents=True)
        for name, expected in (("kiln", "serial-map"), ("loom", "healthy")):
            (self.here / NAME / f"programs/{name}.py").write_text(PROGRAM.format(expected=expected))
        for place, value in (("HERE", self.here), ("BLIND", self.here / "blind")):
            self.patch(program, place, value)
        self.patch(rounds, "ROOT", self.folder)

    def patch(self, module, name, value):
        patched = mock.patch.object(module, name, value)
        patched.start()
        self.addCleanup(patched.stop)

    def git(self, *words):
        subprocess.run(["git", "-C", self.folder, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                       capture_output=True)

    def result(self, name, *causes):
        case = next(case for case in program.programs_of(NAME) if case.name == name)
        findings = [{"cause": cause, "severity": "high", "where": ""} for cause in causes]
        return judge.as_json(judge.judge(case, {"verdict": "slow", "findings": findings}))

    def first_run(self):
        record = rounds.FirstRun(NAME, "p" * 40, "c" * 40)
        record.add(self.result("kiln", "nan-loss"))
        return record

    def test_a_round_is_a_set_and_its_programs_know_it(self):
        self.assertIn(NAME, program.all_sets())
        self.assertEqual({case.set for case in program.programs_of(NAME)}, {NAME})
        self.assertEqual((program.round_of(NAME), program.round_of("held_out")), ("round1", None))

    def test_what_was_given_at_first_stays(self):
        record = self.first_run()
        record.add(self.result("loom"))
        record.close()
        self.assertEqual(rounds.first_given(NAME, "kiln"), ["nan-loss"])
        before = rounds.record_path(NAME).read_text()
        with self.assertRaises(rounds.Closed):
            rounds.FirstRun(NAME, "p" * 40, "c" * 40)
        self.assertEqual(rounds.record_path(NAME).read_text(), before)

    def test_a_first_run_that_was_cut_off_goes_on_with_what_is_left_and_the_same_code(self):
        self.first_run()
        again = rounds.FirstRun(NAME, "p" * 40, "c" * 40)
        self.assertEqual([case.name for case in again.open_cases(program.programs_of(NAME))], ["loom"])
        with self.assertRaises(rounds.Closed):
            rounds.FirstRun(NAME, "p" * 40, "d" * 40)

    def test_each_watcher_has_a_first_run_of_its_own_by_the_same_code(self):
        record = self.first_run()
        record.add(self.result("loom"))
        record.close()
        with self.assertRaises(rounds.Closed):
            rounds.FirstRun(NAME, "p" * 40, "d" * 40, "user")
        by_user = rounds.FirstRun(NAME, "p" * 40, "c" * 40, "user")
        by_user.add(self.result("kiln", "serial-map"))
        by_user.close()
        self.assertEqual(rounds.first_given(NAME, "kiln"), ["nan-loss"])
        page = write_score.tables(write_score.all_records())
        self.assertIn("user: 1 of 1, 0 of 0 accused", page)
        self.assertIn("| kiln | serial-map | serial-map | slow |  |", page)

    def test_nobody_looks_at_a_round_before_its_first_run(self):
        with self.assertRaises(rounds.Closed):
            run_foreign.chosen_sets(options())
        record = self.first_run()
        with self.assertRaises(rounds.Closed):
            run_foreign.chosen_sets(options())
        self.assertNotIn(NAME, run_foreign.chosen_sets(options(set=["all"])))
        record.close()
        self.assertEqual(run_foreign.chosen_sets(options()), [NAME])
        self.assertIn(NAME, run_foreign.chosen_sets(options(set=["all"])))

    def test_a_first_run_is_of_a_whole_round(self):
        for wrong in ({"only": "kiln"}, {"beside": 2}, {"most_seconds": 5}, {"set": ["held_out"]}, {"set": [NAME, NAME]}):
            told = options(first_run=True, **wrong)
            with self.assertRaisesRegex(rounds.Closed, "one blind round"):
                run_foreign.first_run_of(told, told.set)

    def test_the_commits_are_of_what_is_committed(self):
        self.git("init", "-q")
        with self.assertRaisesRegex(rounds.Closed, "not committed"):
            rounds.commits(NAME)
        self.git("add", "-A")
        self.git("commit", "-qm", "programs")
        of_programs = rounds.git("rev-parse", "HEAD")
        (self.folder / "headway").mkdir()
        (self.folder / "headway/a.cpp").write_text("int a;\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "code")
        rounds.record_path(NAME).write_text("{}")
        self.assertEqual(rounds.commits(NAME), (of_programs, rounds.git("rev-parse", "HEAD")))
        (self.folder / "headway/a.cpp").write_text("int b;\n")
        with self.assertRaisesRegex(rounds.Closed, "a.cpp"):
            rounds.commits(NAME)

    def test_a_program_that_no_build_tree_answers_for_is_refused(self):
        with self.assertRaises(rounds.Closed):
            rounds.check_built(str(self.folder / "headway"))

    def test_a_build_tree_answers_for_what_it_has_made(self):
        headway = self.folder / "headway"
        headway.write_text(STAND_IN)
        headway.chmod(0o755)
        rule = "rule make\n  command = true\n"
        (self.folder / "build.ninja").write_text(rule + "build headway_cli: phony headway\n")
        rounds.check_built(str(headway))
        (self.folder / "build.ninja").write_text(rule + "build headway_cli: make\n")
        with self.assertRaisesRegex(rounds.Closed, "build it first"):
            rounds.check_built(str(headway))

    def test_a_first_run_from_start_to_end(self):
        (self.folder / "build").mkdir()
        headway = self.folder / "build/headway"
        headway.write_text(STAND_IN)
        headway.chmod(0o755)
        (self.folder / "build/build.ninja").write_text("build headway_cli: phony headway\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "programs")
        self.patch(run_foreign, "python_of", lambda script: "")
        self.patch(run_foreign, "system_python_with", lambda module: sys.executable)
        words = ["run_foreign.py", "--headway", str(headway), "--set", NAME]
        told = self.folder / "told.json"
        for more, status in (([], 2), (["--first-run"], 1), (["--first-run"], 2), (["--json", str(told)], 1)):
            self.patch(sys, "argv", words + more)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(run_foreign.main(), status)
        record = rounds.first_run(NAME)
        self.assertEqual(record["programs_commit"], rounds.git("rev-parse", "HEAD"))
        self.assertEqual([(case["name"], case["given"], case["right"]) for case in record["cases"]],
                         [("kiln", ["serial-map"], True), ("loom", ["serial-map"], False)])
        again = json.loads(told.read_text())["cases"][0]
        self.assertEqual((again["set"], again["round"], again["first_run"], again["expected"], again["given"]),
                         (NAME, "round1", ["serial-map"], "serial-map", ["serial-map"]))

    def test_the_page_shows_every_case_and_marks_what_was_missed(self):
        record = self.first_run()
        record.add(self.result("loom", "serial-map"))
        record.close()
        page = write_score.page(f"head\n{write_score.MARK}\nold", write_score.all_records())
        self.assertTrue(page.startswith("head\n"))
        self.assertNotIn("old", page)
        for line in ("faults named right: 0 of 1 (0%)", "healthy programs accused: 1 of 1 (100%)", "`pppppppppppp`",
                     "| kiln | serial-map | nan-loss | slow | **miss** |", "| loom | healthy | serial-map | slow | **accused** |"):
            self.assertIn(line, page)

    def test_what_was_skipped_is_missed(self):
        record = self.first_run()
        record.skip(program.programs_of(NAME)[0], "no Python")
        self.assertIn("0 of 2", write_score.table(record.record))

    def test_without_rounds_no_figure_is_shown(self):
        self.assertNotRegex(write_score.tables([]), "[0-9]")


class Kept(unittest.TestCase):
    """What is in the repository."""

    def test_the_page_is_as_it_would_be_written(self):
        page = write_score.PAGE.read_text()
        self.assertEqual(page, write_score.page(page, write_score.all_records()))

    def test_every_fault_of_a_round_is_proved(self):
        for name in filter(program.round_of, program.all_sets()):
            proof = (program.HERE / name / "proof.json").read_text()
            json.loads(proof)
            for case in program.programs_of(name):
                self.assertTrue(case.healthy or f'"{case.name}' in proof, f"{name}: {case.name}")


class Table(unittest.TestCase):
    def test_the_proving_grounds_table_takes_what_a_header_accepts(self):
        sys.path.insert(0, str(program.HERE.parent / "proving"))
        self.addCleanup(sys.path.pop, 0)
        import score
        row = {"expected": "serial-map", "given": ["input-bound"]}
        self.assertFalse(score.is_right(row))
        self.assertTrue(score.is_right({**row, "accepted": ["input-bound"]}))
        self.assertFalse(score.is_right({"expected": "healthy", "given": [], "problem": "silent"}))


if __name__ == "__main__":
    unittest.main()
