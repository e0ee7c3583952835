"""Man pages and completions, as man and the shells take them. A shell that is not installed skips its test by name."""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

from verbs import HEADWAY, VerbTest, verbs_of_the_program

TRAINING = "import time\nfor step in range(10**9):\n    sum(range(20000))\n"


class ManPages(VerbTest):
    def test_every_verb_has_a_page_that_says_what_its_help_says(self):
        self.headway("man", "--out", "man1")
        for verb in verbs_of_the_program():
            page = (self.folder / "man1" / f"headway-{'-'.join(verb)}.1").read_text()
            self.assertEqual(page, self.headway("man", *verb).stdout)
            plain = page.replace("\\-", "-")
            for option in options_of(self.headway(*verb, "--help").stdout):
                self.assertIn(f"\\fB{option}\\fR", plain, verb)
            for section in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS"):
                self.assertIn(f".SH {section}\n", page, verb)
        self.assertIn("headway-train", (self.folder / "man1/headway.1").read_text().replace("\\-", "-"))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_no_page_has_a_mistake_that_groff_knows(self):
        self.headway("man", "--out", "man1")
        pages = sorted(map(str, (self.folder / "man1").iterdir()))
        self.assertGreater(len(pages), 10)
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", *pages], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("headway doctor run.trace", done.stdout)

    def test_a_verb_that_is_none_is_named(self):
        self.assertIn("'dance'", self.fails("man", "dance"))
        self.fails("man", "doctor", "--out", "man1", status=2)


class Completion(VerbTest):
    """What each shell offers; `offers` is told the line up to the cursor."""

    def setUp(self):
        super().setUp()
        (self.folder / "run.trace").write_text("")
        (self.folder / "my photos").mkdir()
        self.environment = {**os.environ, "HOME": str(self.folder), "TERM": "dumb",
                            "PATH": f"{os.path.dirname(HEADWAY)}:{os.environ['PATH']}"}

    def check(self, offers):
        self.assertIn("doctor", offers("headway d"))
        self.assertIn("train", offers("headway "))
        self.assertIn("feed", offers("headway bench "))
        self.assertIn("--html", offers("headway doctor --h"))
        self.assertIn("--learning-rate", offers("headway train --lea"), "options of the other program")
        self.assertIn("bfloat16", offers("headway train --precision b"))
        self.assertNotIn("run.trace", offers("headway train --precision "))
        self.assertIn("zsh", offers("headway completion z"))
        self.assertIn("run.trace", offers("headway doctor ru"))
        self.assertIn("run.trace", offers("headway doctor --html ru"))
        out = offers("headway make-data --out ")
        self.assertRegex(out, r"my\\? photos")
        self.assertNotIn("run.trace", out, "a folder is wanted")
        self.assertNotIn("--html", offers("headway run -- ls --ht"), "options of the command are its own")
        self.assertIn("run.trace", offers("headway run -- cat ru"))
        self.assertIn(self.training(), offers("headway attach "))

    def training(self):
        """The process ID of one that `headway attach` lists; the child of a Python would count as its worker."""
        shell = self.start(["sh", "-c", '"$0" "$1" & echo $!; wait', *self.python(TRAINING)], text=True)
        process = shell.stdout.readline().strip()
        self.addCleanup(os.kill, int(process), signal.SIGKILL)
        wait_until(lambda: process in self.headway("attach").stdout)
        return process

    def script(self, shell):
        (self.folder / "completion").write_text(self.headway("completion", shell).stdout)
        return self.folder / "completion"

    def test_bash(self):
        script = self.script("bash")

        def offers(line):
            words = re.split(r"\s+|(=)", line)
            words = [word for word in words if word is not None]
            program = (f"source {script}; COMP_WORDS=({' '.join(w and repr(w) or chr(39) * 2 for w in words)}); "
                       f"COMP_CWORD={len(words) - 1}; _headway; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            done = subprocess.run(["bash", "--norc", "-c", program], cwd=self.folder, env=self.environment,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stderr, "", line)
            return done.stdout
        self.check(offers)
        self.assertIn("run.trace", offers("headway doctor --html=ru"))
        self.assertEqual(offers("headway doctor --html ru").strip(), "run.trace", "a file, and no verb or option")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = self.script("fish")

        def offers(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                                  cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stderr, "", line)
            return done.stdout
        self.check(offers)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        folder = self.folder / "functions"
        folder.mkdir()
        self.script("zsh").rename(folder / "_headway")

        def offers(line):
            return Zsh(self, folder).offers(line)
        self.check(offers)


class Zsh:
    """An interactive zsh on a terminal of its own: it completes nowhere else."""

    def __init__(self, test, functions):
        ours, theirs = pty.openpty()
        self.terminal = ours
        test.addCleanup(os.close, ours)
        process = subprocess.Popen(["zsh", "-f", "-i"], cwd=test.folder, env=test.environment, stdin=theirs,
                                   stdout=theirs, stderr=theirs, start_new_session=True)
        test.addCleanup(test.end, process)
        os.close(theirs)
        self.type(f"stty -echo cols 200; PS1=; fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D; "
                  "LISTMAX=0; zstyle ':completion:*' list-colors; bindkey '^I' list-choices; print rea''dy\n")
        assert "ready" in self.read("ready"), "zsh does not start"

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read(self, until, quiet_s=1.2):
        seen, deadline = b"", time.monotonic() + 30
        while time.monotonic() < deadline:
            if not select.select([self.terminal], [], [], quiet_s)[0]:
                break
            try:
                seen += os.read(self.terminal, 65536)
            except OSError:  # closed at the other end
                break
            if until and until.encode() in seen:
                break
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode(errors="replace"))

    def offers(self, line):
        self.read("", 0.3)
        self.type(line + "\t")
        said = self.read("")
        return said.split(line, 1)[-1]


def options_of(help_text):
    return re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, flags=re.M)


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.2)


if __name__ == "__main__":
    unittest.main()
