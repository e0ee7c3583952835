"""The words the tests of the verbs are written in."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HEADWAY = os.path.abspath(os.environ.get("HEADWAY", "build/release/headway"))


def verbs_of_the_program():
    """Every verb as --help lists it, in words: ["bench", "feed"]. New ones are found by themselves."""
    def below(words):
        said = subprocess.run([HEADWAY, *words, "--help"], capture_output=True, text=True, check=True).stdout
        listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", said, flags=re.M)
        if not listed:
            return [words]
        return [verb for name in re.findall(r"^  (\S+)", listed[1], flags=re.M) for verb in below([*words, name])]
    return below([])


class VerbTest(unittest.TestCase):
    """A folder of its own for each test; `headway()` runs the program in it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="headway-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def headway(self, *arguments, status=0):
        done = subprocess.run([HEADWAY, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    def python(self, text):
        """The command that runs this Python program."""
        (self.folder / "train.py").write_text(text)
        return [sys.executable, "train.py"]

    def start(self, command, **streams):
        process = subprocess.Popen(command, cwd=self.folder, **{"stdout": subprocess.PIPE, **streams})
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def json(self, *arguments):
        done = self.headway(*arguments, "--json")
        self.assertEqual(done.stdout.count("\n"), 1, "one line of JSON and nothing else")
        return json.loads(done.stdout)

    def fails(self, *arguments, status=1):
        """Runs a command that must fail; gives what it says, of the form problem, then hint."""
        done = self.headway(*arguments, status=status)
        self.assertTrue(done.stderr.startswith("headway: "), done.stderr)
        self.assertIn("  ---> ", done.stderr)
        self.assertEqual(done.stdout.count("{"), 0)
        return done.stderr

    def shapes(self, name, count=40, *options):
        self.headway("make-data", "--out", name, "--count", count, "--width", 64, "--height", 48, *options)
        return self.folder / name


def contents(folder, pattern="*"):
    """{relative path: bytes} of the files that are not hidden."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob(pattern))
            if p.is_file() and not p.name.startswith(".")}
