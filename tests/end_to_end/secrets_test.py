"""A program with secrets in every place that Headway looks at: none is in anything Headway writes."""
import os
import re
import subprocess
import sys
import time
import unittest

from verbs import HEADWAY, VerbTest

SECRETS = {
    "an option": "Opensesame-11",
    "an option of two words": "two plain words",
    "a short option": "me:Swordfish12",
    "an unknown option": "Letmein-13",
    "the environment": "Dragonfly-14",
    "a local": "Hunterman-15",
    "a path in a local": "Pathlike-16z8Q",
    "a global": "Globetrot-17",
    "a string in code": "Stringy-18",
    "a login": "Loginpass-19",
    "an address": "Addressed-20",
    "an exception": "Exceptional-21",
    "a remark": "Remarkable-22",
    "a token in a word": "A" + "KIAIOSFODNN7EXAMPLE",
}

PROGRAM = """
import os, sys, time
path = "{a global}"
def login(user, word):
    p = "{a local}"
    f = word
    image_path = "https://me:{an address}@host/{a token in a word}.jpg"
    for step in range({steps}):
        time.sleep(0.05); x = ("me", "{a string in code}")
print("using api_key={a remark}: out of memory with password {a remark}", flush=True)
login("me", "{a login}")
raise ValueError("no login for me with {an exception} at postgres://me:{an address}/x@db")
"""


class Secrets(VerbTest):
    def program(self, steps):
        text = PROGRAM
        for name, secret in SECRETS.items():
            text = text.replace("{" + name + "}", secret)
        (self.folder / "train.py").write_text(text.replace("{steps}", str(steps)))
        return [sys.executable, "train.py", "--password", SECRETS["an option"],
                "--passphrase", SECRETS["an option of two words"], "-u", SECRETS["a short option"],
                "--thing", SECRETS["an unknown option"], "--name", "x" + SECRETS["a token in a word"],
                "--batch-size", "64"]

    def assert_clean(self, text, where):
        for name, secret in SECRETS.items():
            self.assertNotIn(secret, text, f"{name} is in {where}")

    def assert_files_clean(self):
        """Every file but the program itself."""
        names = [p for p in self.folder.rglob("*") if p.is_file() and p.name != "train.py"]
        for name in names:
            self.assert_clean(name.read_bytes().decode(errors="replace"), name.name)
        return {name.name for name in names}

    def test_none_is_written_of_a_run(self):
        environment = dict(os.environ, DB_PASSWORD=SECRETS["the environment"])
        done = subprocess.run(
            [HEADWAY, "run", "--trace", "run.trace", "--json-out", "run.json", "--report-every", "1", "--",
             *self.program(steps=60)], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(SECRETS["an exception"], done.stderr, "the program's own output passes untouched")
        own = "".join(re.findall(r"--- headway\n.*?\n---\n", done.stderr, re.S))
        self.assertIn("ValueError", own)
        self.assert_clean(own, "what `run` says")
        trace = (self.folder / "run.trace").read_text()
        for seen in ("--batch-size 64", "login", "ValueError"):
            self.assertTrue(seen in trace, f"{seen} is not in the trace: nothing was looked at")
        said = self.headway("doctor", "run.trace", "--html", "run.html", "--tensorboard", "logs", status=3)
        self.assert_clean(said.stdout + said.stderr, "what `doctor` says")
        said = self.headway("doctor", "run.trace", "--json", status=3)
        self.assert_clean(said.stdout, "what `doctor --json` says")
        self.assertLessEqual({"run.trace", "run.json", "run.html"}, self.assert_files_clean())

    def test_none_is_written_of_a_process_that_is_watched(self):
        environment = dict(os.environ, DB_PASSWORD=SECRETS["the environment"])
        process = subprocess.Popen(self.program(steps=10**6), cwd=self.folder, env=environment,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        process.stdout.close()
        time.sleep(0.3)
        for arguments in ([], ["--json"], [process.pid, "--stacks"],
                          [process.pid, "--seconds", "2", "--trace", "seen.trace"],
                          [process.pid, "--seconds", "2", "--json"]):
            done = subprocess.run([HEADWAY, "attach", *map(str, arguments)], cwd=self.folder, capture_output=True,
                                  text=True, timeout=60)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            self.assert_clean(done.stdout + done.stderr, f"attach {arguments}")
        trace = (self.folder / "seen.trace").read_text()
        self.assertTrue("step" in trace and "--batch-size 64" in trace, "nothing was looked at")
        self.assert_files_clean()


if __name__ == "__main__":
    unittest.main()
