#!/usr/bin/env python3
"""Runs one peer on one task in its own process and prints its one line of JSON.

    run_peer.py --peer tf.data --task t1 --images DIR --threads 2 --seconds 5
    run_peer.py --peer train-keras --model dense --threads 2 [--batch 32]
    run_peer.py --list      {"installed": {name: {"version", "tasks"}}, "absent": {name: reason}}

A peer that trains becomes this process and takes its orders from standard input: see
train_protocol.py.

Plain Python: it finds the interpreter or program of each peer itself (scripts/bench_setup.sh puts
them in place). A peer that has several configurations is run in each, and the fastest is printed.
The peer is bound to as many CPUs as `--threads`.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = Path(os.environ.get("HEADWAY_PEERS_BUILD", ROOT / "build" / "peers"))
IMAGES = ("t1", "t2", "t3")
MODELS = ("dense", "conv", "vgg16")


def venv_of(script):
    where = subprocess.run([ROOT / "scripts" / script, "--where"], capture_output=True, text=True)
    return where.stdout.strip()


def tensorflow_python():
    return venv_of("interop_setup.sh")


def bench_python():
    return venv_of("bench_setup.sh")


def debian_python():
    return "/usr/bin/python3"


@dataclass
class Peer:
    script: str                 # a Python file here, or a program in build/peers
    python: callable = None     # gives its interpreter; None for a program
    version: str = ""           # Python that prints the version, and fails when the peer is absent
    tasks: tuple = IMAGES
    variants: tuple = ("",)     # values of PEER_VARIANT

    def command(self):
        if self.python is None:
            return [str(PROGRAMS / self.script)]
        return [self.python(), str(HERE / self.script)]


KERAS_VERSION = "from importlib.metadata import version; print(version('keras'))"

PEERS = {
    "tf.data": Peer("tf_data.py", tensorflow_python,
                    "import tensorflow as m; print(m.__version__)",
                    (*IMAGES, "scalars"), ("autotune", "private")),
    "pytorch": Peer("pytorch.py", debian_python,
                    "import torch as m, torchvision; print(m.__version__)", (*IMAGES, "scalars")),
    "libtorch": Peer("libtorch_peer", tasks=(*IMAGES, "scalars")),
    "mlx-data-cpp": Peer("mlx_peer", tasks=(*IMAGES, "scalars")),
    "mlx-data": Peer("mlx_data.py", bench_python,
                     "import mlx.data; from importlib.metadata import version; print(version('mlx-data'))"),
    "spdl": Peer("spdl_threads.py", bench_python,
                 "import spdl.io; spdl.io.DecodeConfig; from importlib.metadata import version; print(version('spdl'))"),
    "grain": Peer("grain_threads.py", bench_python,
                  "import grain, cv2; from importlib.metadata import version; print(version('grain'))",
                  variants=("threads", "processes")),
    "train-keras": Peer("train_keras.py", tensorflow_python, KERAS_VERSION, MODELS),
    "train-keras-tuned": Peer("train_keras.py", tensorflow_python, KERAS_VERSION, MODELS, ("tuned",)),
    "train-pytorch": Peer("train_pytorch.py", debian_python,
                          "import torch as m; print(m.__version__)", MODELS),
}


def environment(threads):
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    env.update(OMP_NUM_THREADS=str(threads), TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="",
               TF_ENABLE_ONEDNN_OPTS="1", PYTHONWARNINGS="ignore")
    return env


def training_environment(name, threads):
    """Each with what makes it fastest."""
    env = {**environment(threads), "OPENBLAS_NUM_THREADS": str(threads),
           "PEER_VARIANT": PEERS[name].variants[0]}
    if name == "train-pytorch":
        # Large tensors come and go with every step: from mmap, each costs its page faults again.
        env.update(MALLOC_MMAP_THRESHOLD_=str(1 << 32), MALLOC_TRIM_THRESHOLD_=str(1 << 32))
        # Debian's default OpenBLAS has threads of its own, which fight with PyTorch's for the CPUs.
        openmp = [str(path) for path in Path("/usr/lib").glob("*/openblas-openmp")]
        env["LD_LIBRARY_PATH"] = ":".join(openmp + [env.get("LD_LIBRARY_PATH", "")]).strip(":")
    return env


def become(name, arguments):
    command = [*PEERS[name].command(), "--model", arguments.model,
               "--threads", str(arguments.threads)]
    if arguments.batch:
        command += ["--batch", str(arguments.batch)]
    bind(arguments.threads)
    os.execve(command[0], command, training_environment(name, arguments.threads))


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def probe(peer):
    """(version, None) of an installed peer, (None, reason) of an absent one."""
    command = [*peer.command()[:1], *(["-c", peer.version] if peer.python else ["--version"])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment(1), timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{error}; make bench sets it up"
    if done.returncode != 0:
        return None, last_line(done.stderr)
    return last_line(done.stdout), None


def list_peers():
    found = {"installed": {}, "absent": {}}
    for name, peer in PEERS.items():
        version, reason = probe(peer)
        if reason is None:
            found["installed"][name] = {"version": version, "tasks": peer.tasks}
        else:
            found["absent"][name] = reason
    return found


def bind(threads):
    """The first `threads` CPUs this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[:threads])


def measure(peer, variant, arguments):
    command = [*peer.command(), "--task", arguments.task, "--threads", str(arguments.threads),
               "--seconds", str(arguments.seconds)]
    if arguments.images:
        command += ["--images", arguments.images]
    env = {**environment(arguments.threads), "PEER_VARIANT": variant}
    done = subprocess.run(command, capture_output=True, text=True, env=env,
                          preexec_fn=lambda: bind(arguments.threads),
                          timeout=120 + 10 * arguments.seconds)
    if done.returncode != 0:
        raise RuntimeError(last_line(done.stderr) or f"exit status {done.returncode}")
    figures = json.loads(last_line(done.stdout))
    if variant:
        figures.setdefault("variant", variant)
    return figures


def better(a, b):
    if "ns_per_element" in a:
        return a if a["ns_per_element"] <= b["ns_per_element"] else b
    return a if a["images_per_s"] >= b["images_per_s"] else b


def run(name, arguments):
    peer = PEERS[name]
    if arguments.task not in peer.tasks:
        raise RuntimeError(f"no task {arguments.task}")
    best = None
    for variant in peer.variants:
        figures = measure(peer, variant, arguments)
        best = figures if best is None else better(best, figures)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="which peers are installed, as JSON")
    parser.add_argument("--peer", choices=PEERS)
    parser.add_argument("--task", choices=[*IMAGES, "scalars"])
    parser.add_argument("--model", choices=MODELS, help="for a peer that trains")
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--images", help="a folder of JPEGs (t1, t2) or PNGs (t3)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    if arguments.list:
        print(json.dumps(list_peers()))
        return 0
    if not arguments.peer or not (arguments.task or arguments.model):
        parser.error("--peer and --task, --peer and --model, or --list")
    if arguments.model:
        if arguments.model not in PEERS[arguments.peer].tasks:
            parser.error(f"{arguments.peer} does not train")
        become(arguments.peer, arguments)
    if arguments.task != "scalars" and not arguments.images:
        parser.error(f"--task {arguments.task} needs --images")
    try:
        print(json.dumps(run(arguments.peer, arguments)))
        return 0
    except (OSError, RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
        print(json.dumps({"name": arguments.peer, "task": arguments.task, "error": str(error)}))
        return 1


if __name__ == "__main__":
    sys.exit(main())
