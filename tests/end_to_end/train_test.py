import json
import os
import random
import signal
import subprocess
import time
import unittest

from verbs import HEADWAY, VerbTest

SMALL = ("--size", 24, "--batch", 8, "--intra-op", 1, "--input-threads", 1)


class Train(VerbTest):
    def start(self, *arguments):
        return subprocess.Popen([HEADWAY, "train", *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for(self, text, run):
        said = ""
        while text not in said:
            line = run.stderr.readline()
            self.assertTrue(line, said)
            said += line
        return said

    def weights(self, name):
        return (self.folder / name).read_bytes()

    def test_a_folder_of_images_is_learnt_and_the_time_accounted_for(self):
        self.shapes("data", 120, "--classes", 3)
        out = self.json("train", "--data", "data", "--epochs", 6, *SMALL)
        self.assertEqual(len(out["epochs"]), 6)
        self.assertLess(out["epochs"][-1]["loss"], out["epochs"][0]["loss"])
        self.assertIn("val_accuracy", out["epochs"][-1])
        self.assertEqual(out["steps"], 6 * 12)
        self.assertLessEqual(sum(out["time_s"].values()), out["seconds"] * 1.01)

    def test_records_are_learnt_too(self):
        self.shapes("records", 60, "--format", "tfrecord", "--classes", 3)
        out = self.json("train", "--data", "records", "--epochs", 1, *SMALL)
        self.assertEqual(out["steps"], 6)

    def test_a_toml_file_says_the_same_and_the_command_line_goes_first(self):
        self.shapes("data", 40, "--classes", 2)
        (self.folder / "run.toml").write_text('data = "data"\nepochs = 3\nbatch = 8\nsize = 24\nintra-op = 1\n')
        self.assertEqual(len(self.json("train", "run.toml")["epochs"]), 3)
        self.assertEqual(len(self.json("train", "run.toml", "--epochs", 1)["epochs"]), 1)

    def test_a_mistake_in_the_file_is_named_with_its_line(self):
        (self.folder / "a.toml").write_text("batch = 8\nepoch = 3\n")
        said = self.fails("train", "a.toml")
        self.assertIn("a.toml:2: epoch", said)
        self.assertIn("did you mean: epochs", said)
        (self.folder / "b.toml").write_text("batch = = 8\n")
        self.assertIn("b.toml:1", self.fails("train", "b.toml"))
        os.mkfifo(self.folder / "pipe.toml")
        self.assertIn("pipe.toml: it is a named pipe, not an ordinary file", self.fails("train", "pipe.toml"))
        (self.folder / "c.toml").write_text('batch = "many"\n')
        self.assertIn("c.toml:1: batch", self.fails("train", "c.toml"))

    def test_without_labels_it_says_what_is_needed(self):
        self.shapes("data", 10)
        self.assertIn("labels", self.fails("train", "--data", "data/circle"))
        self.assertIn("train", self.fails("train", "--epochs", 0, status=2))

    def test_more_epochs_can_be_asked_for_later(self):
        self.shapes("data", 40, "--classes", 2)
        self.headway("train", "--data", "data", "--epochs", 3, "--save", "all.safetensors", *SMALL)
        self.headway("train", "--data", "data", "--epochs", 1, "--work", "w", *SMALL)
        self.headway("train", "--data", "data", "--epochs", 3, "--work", "w", "--resume", "--save", "two.safetensors",
                     *SMALL)
        self.assertEqual(self.weights("all.safetensors"), self.weights("two.safetensors"))

    def test_ctrl_c_keeps_a_checkpoint_and_resume_goes_on(self):
        self.shapes("data", 200, "--classes", 2)
        run = self.start("--data", "data", "--epochs", 1000, *SMALL)
        said = self.wait_for("epoch 1/", run)
        run.send_signal(signal.SIGINT)
        _, rest = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, said + rest)
        self.assertTrue(list((self.folder / "headway-run/checkpoints").glob("*.safetensors")), said + rest)

    def test_where_results_cannot_be_written_is_said_before_training(self):
        self.shapes("data", 40, "--classes", 2)
        for option in ("--save", "--report", "--csv", "--trace"):
            said = self.fails("train", "--data", "data", option, "missing/result", *SMALL)
            self.assertIn("missing/result", said)
            self.assertNotIn("epoch", said)
        self.assertIn("is a folder", self.fails("train", "--data", "data", "--save", "data", *SMALL))

    def test_a_number_that_is_none_is_refused(self):
        for option in ("--momentum", "--learning-rate", "--weight-decay", "--clip-norm"):
            for value in ("nan", "inf"):
                self.assertIn("finite", self.fails("train", option, value, status=2))
        (self.folder / "run.toml").write_text("momentum = nan\n")
        self.assertIn("run.toml:1: momentum", self.fails("train", "run.toml"))

    def test_a_second_training_in_one_folder_is_told_of_the_first(self):
        self.shapes("data", 200, "--classes", 2)
        first = self.start("--data", "data", "--epochs", 1000, "--every-steps", 1, *SMALL)
        self.addCleanup(first.communicate)
        self.addCleanup(first.kill)
        self.wait_for("epoch 1/", first)
        said = self.headway("train", "--data", "data", *SMALL, status=1).stderr
        self.assertIn(f"checkpoints is in use by a training, process {first.pid}", said)
        first.kill()
        first.wait()
        self.headway("train", "--data", "data", "--epochs", 1, *SMALL)  # nobody holds it any more

    def test_too_few_threads_are_said_with_the_limit_and_do_not_hang(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to become a user without processes")
        os.chmod(self.folder, 0o777)
        self.shapes("data", 40, "--classes", 2)
        lonely = ["setpriv", "--reuid", "64998", "--clear-groups", "prlimit", "--nproc=3"]
        done = subprocess.run([*lonely, HEADWAY, "train", "--data", "data", "--epochs", "1", "--size", "24"],
                              cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("ulimit -u is 3", done.stderr)

    def test_too_few_addresses_are_said_and_do_not_hang(self):
        self.shapes("data", 40, "--classes", 2)
        for megabytes in (400, 800, 840, 900, 1000, 1060, 1400, 1800):  # less than libtorch needs, then than its pools
            done = subprocess.run(["prlimit", f"--as={megabytes << 20}", HEADWAY, "train", "--data", "data",
                                   "--epochs", "1", "--size", "24", "--work", f"w{megabytes}"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertIn(done.returncode, (0, 1), f"{megabytes} MB: {done.stderr}")
            if megabytes <= 1060:
                self.assertIn(f"the limit (ulimit -v) is {megabytes} MB", done.stderr)

    def test_killed_thirty_times_anywhere_the_weights_are_the_same(self):
        self.shapes("data", 64, "--classes", 4)
        common = ("--data", "data", "--epochs", 8, "--augment", "--every-steps", 1, "--resume", "--json", *SMALL)
        began = time.time()
        self.headway("train", "--work", "calm", "--save", "calm.safetensors", *common)
        calm_s = time.time() - began
        rng, kills, latest_s = random.Random(2026), 0, 0.6 * calm_s
        for _ in range(30):
            run = self.start("--work", "killed", "--save", "killed.safetensors", *common)
            time.sleep(rng.uniform(0.02, latest_s))
            run.kill()
            run.communicate()
            kills += run.returncode == -signal.SIGKILL
            if run.returncode == 0:  # too late: the calm run met a busier machine
                latest_s = max(0.1, 0.7 * latest_s)
        done = self.headway("train", "--work", "killed", "--save", "killed.safetensors", *common)
        self.assertEqual(json.loads(done.stdout)["steps"], 8 * 7)
        self.assertGreaterEqual(kills, 15, "too few runs were still at work when they were killed")
        self.assertEqual(self.weights("killed.safetensors"), self.weights("calm.safetensors"))


if __name__ == "__main__":
    unittest.main()
