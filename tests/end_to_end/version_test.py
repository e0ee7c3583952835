"""`headway --version`: what it was made from."""
import pathlib
import re
import shutil
import subprocess
import unittest

from verbs import HEADWAY, VerbTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAIN = pathlib.Path(HEADWAY).parent / "headway-train"
FIND_COMMIT = ROOT / "cmake/commit.cmake"


class Version(VerbTest):
    def test_lines_and_json_say_the_same(self):
        told, lines = self.json("--version"), self.headway("--version").stdout
        self.assertEqual(lines.splitlines()[0], f"headway {told['version']}, commit {told['commit']}")
        self.assertRegex(told["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(lines, rf"compiler +{re.escape(told['compiler'])}, {told['build']}\n")
        names = [each["name"] for each in told["libraries"]]
        self.assertEqual(names[1:], ["libdeflate", "isa-l"])
        for each in told["libraries"]:
            self.assertRegex(lines, rf"{each['name']} +{re.escape(each['version'])}")
        self.assertRegex(told["libraries"][0]["note"], r"^interface \d+, ")

    @unittest.skipUnless(TRAIN.exists(), "built without libtorch")
    def test_libtorch_is_that_of_headway_train(self):
        told, of_train = self.json("--version"), self.json("train", "--version")
        self.assertEqual(told["libtorch"], of_train["libtorch"])
        self.assertRegex(told["libtorch"]["version"], r"^\d+\.\d+")
        self.assertIn(f"libtorch       {told['libtorch']['version']} ", self.headway("train", "--version").stdout)
        linked = subprocess.run(["ldd", HEADWAY], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("torch", linked, "headway itself starts without libtorch")

    def test_without_headway_train_that_is_said(self):
        shutil.copy(HEADWAY, self.folder / "headway")
        done = subprocess.run([self.folder / "headway", "--version"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("headway-train did not run (No such file or directory)", done.stdout)


class Commit(VerbTest):
    """How the commit is found, in checkouts made for it."""

    def found(self, source):
        subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUT={self.folder}/commit.inc", "-P", FIND_COMMIT], check=True)
        return (self.folder / "commit.inc").read_text().strip().strip('"')

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.folder / "checkout",
                              check=True, capture_output=True, text=True).stdout.strip()

    def test_of_a_checkout_with_and_without_changes_and_of_a_tarball(self):
        checkout = self.folder / "checkout"
        (checkout / "inside").mkdir(parents=True)
        (checkout / "file").write_text("one\n")
        self.git("init", "--quiet")
        self.git("add", "file")
        self.git("commit", "--quiet", "--message", "one")
        commit = self.git("rev-parse", "--short=12", "HEAD")
        self.assertEqual(self.found(checkout), commit)
        before = (self.folder / "commit.inc").stat().st_mtime_ns
        self.assertEqual(self.found(checkout), commit)
        self.assertEqual((self.folder / "commit.inc").stat().st_mtime_ns, before, "nothing is compiled anew")
        (checkout / "file").write_text("two\n")
        self.assertEqual(self.found(checkout), commit + " with changes")
        self.assertEqual(self.found(checkout / "inside"), "unknown", "a tarball inside somebody's checkout")
        shutil.rmtree(checkout / ".git")
        self.assertEqual(self.found(checkout), "unknown")


if __name__ == "__main__":
    unittest.main()
