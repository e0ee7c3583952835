import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import unittest

import misfits
from verbs import HEADWAY, VerbTest

TRAINER = pathlib.Path(HEADWAY).parent / "headway-train"
# Settings of whoever runs the tests that are themselves misfits.
SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "CUDA_VISIBLE_DEVICES",
            "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "PYTHONPATH", "KERAS_BACKEND")


class CheckTest(VerbTest):
    def command(self, *arguments, disk=False):
        return [HEADWAY, "check", "--json", *([] if disk else ["--no-disk"]), *map(str, arguments)]

    def run_check(self, command, before=None, **settings):
        """What it says as JSON; its exit status fits that."""
        env = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        env.update({name: str(value) for name, value in settings.items()})
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=60,
                              preexec_fn=before)
        if done.returncode == 77:
            self.skipTest(f"this machine refuses: {done.stderr.strip()}")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(done.returncode == 0, said["fits"])
        self.assertEqual(said["fits"], said["wrong"] == 0)
        return said

    def check(self, *arguments, before=None, **settings):
        return self.run_check(self.command(*arguments), before, **settings)

    def says(self, said, id, fit, *words):
        """There is such a line, with these words and a remedy; gives it."""
        lines = [line for line in said["lines"] if line["id"] == id and line["fit"] == fit]
        text = json.dumps(said["lines"], indent=1)
        self.assertTrue(lines, f"no line {id} that is {fit} in {text}")
        matching = [line for line in lines
                    if all(word in line["found"] + line["why"] + line["remedy"] for word in words)]
        self.assertTrue(matching, f"{words} in {lines}")
        self.assertTrue(fit == "good" or (matching[0]["remedy"] and matching[0]["why"]), matching)
        return matching[0]

    def made(self, maker, *arguments, **options):
        try:
            return maker(*arguments, **options)
        except misfits.Refused as refused:
            self.skipTest(str(refused))


class GoodMachine(CheckTest):
    def test_this_machine_fits_and_says_what_it_saw(self):
        begin = time.monotonic()
        said = self.check()
        took = time.monotonic() - begin
        self.assertEqual(said["wrong"], 0, [line for line in said["lines"] if line["fit"] == "wrong"])
        self.assertLess(took, 5)  # about 0.3 s on an idle machine
        self.assertEqual(said["cores"]["allowed"], len(os.sched_getaffinity(0)))
        self.assertEqual(len(said["lines"]), said["good"] + said["doubtful"] + said["wrong"] + said["not_seen"])

    def test_the_disk_is_measured_and_nothing_stays(self):
        begin = time.monotonic()
        said = self.run_check(self.command(disk=True))
        self.assertLess(time.monotonic() - begin, 15)  # about 4 s
        self.assertEqual(list(self.folder.iterdir()), [])
        if not any(line["id"] == "disk-speed" for line in said["lines"]):
            self.assertGreater(said["disk"]["large_read_bytes_per_s"], 1e6)
            self.assertGreater(said["disk"]["small_reads_per_s"], 1)

    def test_the_text_says_the_same_as_the_json(self):
        said = self.check()
        text = self.headway("check", "--no-disk", status=0 if said["fits"] else 3).stdout
        self.assertTrue(text.startswith(said["sentence"].split(":")[0]), text)

    def test_without_python_it_says_that_it_did_not_see_one(self):
        said = self.check(PATH=self.folder)
        self.says(said, "python", "not-seen", "--python")

    def test_without_proc_it_says_what_it_did_not_see(self):
        command = self.made(misfits.in_own_mounts, "mount -t tmpfs tmpfs /proc", self.command())
        said = self.run_check(command)
        for id in ("memory", "cpu-quota", "ptrace"):
            self.says(said, id, "not-seen", "/proc")

    def test_a_python_that_hangs_is_given_up(self):
        program = self.folder / "python"
        program.write_text("#!/bin/sh\nsleep 60\n")
        program.chmod(0o755)
        begin = time.monotonic()
        said = self.check("--python", program)
        self.assertLess(time.monotonic() - begin, 20)
        self.says(said, "python", "not-seen", "did not end")

    def test_strict_makes_doubt_fail(self):
        done = subprocess.run([HEADWAY, "check", "--no-disk", "--strict"], cwd=self.folder, capture_output=True,
                              env={**os.environ, "OMP_NUM_THREADS": "many"}, timeout=60)
        self.assertEqual(done.returncode, 3)


class Misfits(CheckTest):
    def test_a_quota_by_cgroup(self):
        group = self.made(misfits.Cgroup, "cpu", "cpu.max", "60000 100000", "cpu.cfs_quota_us", "60000")
        self.addCleanup(group.close)
        line = self.says(self.check(before=group.enter), "cpu-quota", "wrong", "0.6 cores", "--cpus", "OMP_NUM_THREADS=1")
        self.assertEqual(line["page"], "docs/causes/cpu-quota.md")

    def test_a_memory_limit_by_cgroup(self):
        group = self.made(misfits.Cgroup, "memory", "memory.max", "800000000", "memory.limit_in_bytes", "800000000")
        self.addCleanup(group.close)
        said = self.check(before=group.enter)
        self.says(said, "memory", "wrong", "800.0 MB", "--memory=")
        self.assertAlmostEqual(said["memory"]["limit_bytes"], 8e8, delta=1e6)

    def test_a_small_dev_shm(self):
        python, _ = environment_of(self, misfits.torch_files(None))
        command = self.made(misfits.in_own_mounts, "mount -t tmpfs -o size=64m tmpfs /dev/shm",
                            self.command("--python", python))
        self.says(self.run_check(command), "shared-memory", "wrong", "67.1 MB", "--shm-size")

    def test_a_full_disk(self):
        disk = self.made(misfits.SmallDisk, self.folder / "small")
        self.addCleanup(disk.close)
        self.says(self.check("--data", disk.folder), "disk-space", "wrong", "tmpfs", "du -xh")

    def test_one_core_by_affinity(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("this machine has one core")
        one = min(os.sched_getaffinity(0))
        said = self.run_check(["taskset", "-c", str(one), *self.command()])
        self.says(said, "cores", "wrong", "1 of the", "taskset", "--cpus-per-task")

    def test_64_descriptors(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        self.says(self.check(before=limit), "open-files", "wrong", "64 files", "ulimit -n")

    def test_few_addresses(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        self.says(self.check(before=limit), "addresses", "wrong", "ulimit -v unlimited")

    def test_threads_that_fight(self):
        self.says(self.check(OMP_NUM_THREADS=4096), "threads", "wrong", "OMP_NUM_THREADS=4096", "unset OMP_NUM_THREADS")

    def test_the_plain_blas_first_on_the_path(self):
        folder = self.made(misfits.plain_blas, self.folder / "blas")
        numpy = next(pathlib.Path("/usr/lib/python3/dist-packages/numpy").glob("*core/_multiarray_umath*.so"), None)
        takes = lambda program: program and str(folder) in str(needed_by(program, "libblas.so", LD_LIBRARY_PATH=folder))
        said = self.check("--python", "/usr/bin/python3", LD_LIBRARY_PATH=folder)
        if takes(numpy):
            self.says(said, "numpy-blas", "doubtful", str(folder), "libopenblas0")
            self.says(self.check("--python", "/usr/bin/python3"), "numpy-blas", "good")
        if takes(TRAINER):
            self.says(said, "headway-blas", "wrong", str(folder), "libopenblas0")
        if not takes(numpy) and not takes(TRAINER):
            self.skipTest("neither the system's NumPy nor headway-train takes libblas.so.3 from LD_LIBRARY_PATH")

    def test_a_library_of_ours_is_moved_away(self):
        library = needed_by(TRAINER, "libc10.so") or self.skipTest("no headway-train, or no libtorch in a folder of its own")
        folder, work = library.parent, self.folder / "layers"
        script = (f"mkdir -p {work} && mount -t tmpfs tmpfs {work} && mkdir {work}/new {work}/work && "
                  f"mount -t overlay overlay -o lowerdir={folder},upperdir={work}/new,workdir={work}/work {folder} && "
                  f"rm {library}")
        command = self.made(misfits.in_own_mounts, script, self.command())
        self.says(self.run_check(command), "headway-train", "wrong", "libc10.so", "libtorch-dev", "LD_LIBRARY_PATH")

    def test_a_library_of_ours_is_damaged(self):
        library = needed_by(TRAINER, "libc10.so") or self.skipTest("no headway-train, or no libtorch in a folder of its own")
        empty = self.folder / "empty"
        empty.write_bytes(b"")
        command = self.made(misfits.in_own_mounts, f"mount --bind {empty} {library.resolve()}", self.command())
        self.says(self.run_check(command), "headway-train", "wrong", "libc10.so", "libtorch-dev")

    def test_a_cudnn_that_is_not_what_its_name_says(self):
        old = self.folder / "old"
        self.made(misfits.library, old / "libcudnn.so.8.9.7", "int cudnnGetVersion(void) { return 8907; }",
                  soname="libcudnn.so.8")
        (old / "libcudnn.so.9").symlink_to("libcudnn.so.8.9.7")
        line = self.says(self.check(LD_LIBRARY_PATH=old), "cuda-library", "wrong", "libcudnn.so.9",
                         "is version 8", "LD_LIBRARY_PATH")
        self.assertEqual(line["page"], "docs/causes/cuda-version-mismatch.md")

    def test_another_cudnn_before_the_frameworks_own(self):
        python, site = environment_of(self, {**misfits.torch_files("12.4"),
                                             "nvidia_cudnn_cu12-9.1.0.70.dist-info/METADATA": "Name: nvidia-cudnn-cu12\n"})
        self.made(misfits.library, site / "nvidia/cudnn/lib/libcudnn.so.9", "int cudnnGetVersion(void) { return 90100; }",
                  soname="libcudnn.so.9")
        old = self.folder / "old"
        misfits.library(old / "libcudnn.so.9.0.0", "int cudnnGetVersion(void) { return 90000; }", soname="libcudnn.so.9")
        (old / "libcudnn.so.9").symlink_to("libcudnn.so.9.0.0")
        said = self.check("--python", python, LD_LIBRARY_PATH=old)
        self.says(said, "cuda-library-order", "doubtful", "version 9.0.0", "version 9.1.0.70")


class MisfitsOfAGpu(CheckTest):
    """With a management library that says a GPU is there: the real one is asked in the same way."""

    def with_gpu(self, **options):
        return self.made(misfits.management_library, self.folder / "driver", **options)

    def torch(self, cuda):
        return environment_of(self, misfits.torch_files(cuda))

    def test_a_gpu_that_is_hidden(self):
        driver = self.with_gpu(gpus=2)
        for value in ("", "-1", "2", "GPU-99", "none"):
            said = self.check(LD_LIBRARY_PATH=driver, CUDA_VISIBLE_DEVICES=value)
            self.says(said, "gpu-visible", "wrong", "no GPU can be used", "CUDA_VISIBLE_DEVICES=0")
        said = self.check(LD_LIBRARY_PATH=driver, CUDA_VISIBLE_DEVICES="1,7,0")
        self.says(said, "gpu-visible", "wrong", "there is no GPU 7", "1 of 2 GPUs")
        self.says(self.check(LD_LIBRARY_PATH=driver, CUDA_VISIBLE_DEVICES="GPU-2"), "gpu-visible", "good")

    def test_a_container_without_the_part_that_computes(self):
        driver = self.with_gpu()
        if any(line["id"] == "gpu-cuda-library" for line in self.check(LD_LIBRARY_PATH=driver)["lines"]):
            self.fail("libcuda.so.1 is there")
        (driver / "libcuda.so.1").unlink()
        if subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1')"], capture_output=True).returncode == 0:
            self.skipTest("the driver is installed here")
        self.says(self.check(LD_LIBRARY_PATH=driver), "gpu-cuda-library", "wrong", "libcuda.so.1")

    def test_pytorch_for_the_cpu_beside_it(self):
        python, _ = self.torch(None)
        said = self.check("--python", python, LD_LIBRARY_PATH=self.with_gpu())
        line = self.says(said, "framework", "wrong", "PyTorch 2.5.1+cpu", "pip install --force-reinstall torch")
        self.assertEqual(line["page"], "docs/causes/gpu-not-used.md")
        self.assertEqual(said["python"]["frameworks"][0]["build"], "cpu")

    def test_debians_pytorch_beside_it(self):
        if not pathlib.Path("/usr/lib/python3/dist-packages/torch/version.py").exists():
            self.skipTest("Debian's python3-torch is not installed")
        said = self.check("--python", "/usr/bin/python3", LD_LIBRARY_PATH=self.with_gpu())
        self.says(said, "framework", "wrong", "PyTorch", "a build for the CPU alone")

    def test_a_driver_that_is_too_old(self):
        python, _ = self.torch("12.4")
        said = self.check("--python", python, LD_LIBRARY_PATH=self.with_gpu(cuda=11080))
        self.says(said, "framework-driver", "wrong", "built for CUDA 12.4", "CUDA up to 11.8", "update NVIDIA's driver")

    def test_a_gpu_that_the_build_does_not_know(self):
        python, site = self.torch("12.4")
        misfits.library(site / "torch/lib/libtorch_python.so",
                        'const char flags[] = "sm_70 sm_75 sm_80 sm_90"; const char* arch(void) { return flags; }')
        said = self.check("--python", python, LD_LIBRARY_PATH=self.with_gpu(capability=(12, 0), cuda=12080))
        self.says(said, "framework-kernels", "wrong", "7.0, 7.5, 8.0, 9.0", "is 12.0", "no kernel image")
        said = self.check("--python", python, LD_LIBRARY_PATH=misfits.management_library(self.folder / "driver"))
        self.assertFalse([line for line in said["lines"] if line["id"] == "framework-kernels"])

    def test_a_cudnn_that_was_moved_away(self):
        if "libcudnn.so.9" in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout:
            self.skipTest("the system has a cuDNN of its own, which would be taken")
        python, site = self.torch("12.4")
        cudnn = self.made(misfits.library, site / "nvidia/cudnn/lib/libcudnn.so.9", "int cudnn(void) { return 0; }",
                          soname="libcudnn.so.9")
        misfits.library(site / "torch/lib/libtorch_python.so", "int cudnn(void); int torch(void) { return cudnn(); }",
                        needs=[cudnn, "-Wl,-rpath,$ORIGIN/../../nvidia/cudnn/lib"])
        driver = self.with_gpu()
        needs = lambda said: [line for line in said["lines"] if "needs libcudnn.so.9" in line["found"]]
        self.assertEqual(needs(self.check("--python", python, LD_LIBRARY_PATH=driver)), [])
        cudnn.rename(self.folder / "libcudnn.so.9")
        said = self.check("--python", python, LD_LIBRARY_PATH=driver)
        self.says(said, "framework-libraries", "wrong", "libcudnn.so.9", "pip install --force-reinstall torch")

    def test_an_older_cudnn_that_it_takes(self):
        python, site = self.torch("12.4")
        old = self.folder / "old"
        cudnn = self.made(misfits.library, old / "libcudnn.so.9.0.0", "int cudnn(void) { return 0; }", soname="libcudnn.so.9")
        (old / "libcudnn.so.9").symlink_to(cudnn.name)
        misfits.library(site / "torch/lib/libtorch_python.so", "int cudnn(void); int torch(void) { return cudnn(); }",
                        needs=[old / "libcudnn.so.9"])
        said = self.check("--python", python, LD_LIBRARY_PATH=f"{self.with_gpu()}:{old}")
        self.says(said, "framework-libraries", "wrong", "built with cuDNN 9.1.0.70", "version 9.0.0", "LD_LIBRARY_PATH")

    def test_a_driver_that_was_updated_while_it_ran(self):
        said = self.check(LD_LIBRARY_PATH=self.with_gpu(error=18))
        self.says(said, "gpu-driver", "wrong", "another version than the kernel module", "restart")


class MisfitsOfAScript(CheckTest):
    def script(self, text):
        (self.folder / "train.py").write_text(text)
        return self.check("train.py")

    def test_data_on_a_path_that_is_missing(self):
        said = self.check("--data", self.folder / "nowhere")
        self.says(said, "data", "wrong", "nowhere' does not exist", "--data DIR")

    def test_an_import_that_is_missing(self):
        said = self.script("import json\nimport no_such_module_42.nets as nets\n")
        self.says(said, "script-imports", "wrong", "train.py:2", "-m pip install no_such_module_42")

    def test_nothing_of_it_is_run(self):
        said = self.script("open('ran', 'w')\nimport os\nos.abort()\n")
        self.assertEqual(said["wrong"], 0, said["lines"])
        self.assertFalse((self.folder / "ran").exists())

    def test_files_that_it_reads_and_that_are_missing(self):
        said = self.script("import csv\nrows = csv.reader(open('data/labels.csv'))\n")
        self.says(said, "script-paths", "wrong", "train.py:2", "data/labels.csv")
        (self.folder / "data").mkdir()
        (self.folder / "data/labels.csv").write_text("a,b\n")
        self.assertEqual(self.check("train.py")["wrong"], 0)

    def test_a_gpu_that_it_asks_for(self):
        if self.check()["gpu"]["gpus"]:
            self.skipTest("a GPU is here")
        self.says(self.script("model.to('cuda')\n"), "script-gpu", "wrong", "train.py:1", "none can be used")
        self.says(self.script("if torch.cuda.is_available():\n    model.cuda()\n"), "script-gpu", "doubtful")

    def test_more_workers_than_cores(self):
        said = self.script("loader = DataLoader(data, batch_size=32, num_workers=4000)\n")
        self.says(said, "script-workers", "doubtful", "num_workers=4000", "cores")

    def test_a_script_that_is_not_there(self):
        self.says(self.check("gone.py"), "script", "wrong", "gone.py")


class MisfitsOfWatching(CheckTest):
    def test_perf_is_forbidden(self):
        if any(line["id"] == "perf" and line["fit"] != "good" for line in self.check()["lines"]):
            self.skipTest("it is forbidden here already")
        said = self.check(before=misfits.forbid_perf_event_open)
        self.says(said, "perf", "doubtful", "perf_event_open", "seccomp")


class ActivePython(CheckTest):
    def test_an_environment_beside_another_python_on_the_path(self):
        python, _ = environment_of(self, {})
        said = self.check(VIRTUAL_ENV=python.parent.parent)
        self.says(said, "python", "doubtful", str(python), "activate")
        self.assertEqual(said["python"]["program"], str(python))
        path = f"{python.parent}:{os.environ['PATH']}"
        self.says(self.check(VIRTUAL_ENV=python.parent.parent, PATH=path), "python", "good")

    def test_no_module_of_the_users_is_imported(self):
        python, _ = environment_of(self, {"json.py": "raise SystemExit(9)\n", **misfits.torch_files("12.4")})
        said = self.check("--python", python, PYTHONPATH=self.folder)
        self.assertEqual(said["python"]["frameworks"][0]["version"], "2.5.1+cu124")


def environment_of(test, packages):
    try:
        return misfits.environment(test.folder / "environment", packages)
    except (subprocess.CalledProcessError, StopIteration) as error:
        test.skipTest(f"no virtual environment can be made with {sys.executable}: {error}")


def needed_by(program, name, **settings):
    """The file that the loader takes for a library whose name begins like this; None if there is none."""
    env = {**os.environ, **{name: str(value) for name, value in settings.items()}}
    done = subprocess.run(["ldd", program], capture_output=True, text=True, env=env)
    for line in done.stdout.splitlines():
        if line.strip().startswith(name) and " => /" in line:
            return pathlib.Path(line.split(" => ")[1].rsplit(" (", 1)[0])
    return None


if __name__ == "__main__":
    unittest.main()
