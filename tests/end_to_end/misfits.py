"""Machines that do not fit, made by real mechanisms: namespaces, groups, limits, and libraries that a compiler makes.
Nothing here is a flag that `headway check` knows."""
import ctypes
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "proving"))
from trouble import Cgroup, Refused, SmallDisk  # noqa: E402,F401

COMPILER = os.environ.get("HEADWAY_CXX", "c++")


def library(path, source, soname=None, needs=()):
    """A real shared library."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = [COMPILER, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), "-x", "none", "-Wl,--no-as-needed"]
    line += [f"-Wl,-soname,{soname}"] if soname else []
    done = subprocess.run([*line, *map(str, needs)], input=source, text=True, capture_output=True)
    if done.returncode:
        raise Refused(f"no library can be compiled here: {done.stderr}")
    return path


def management_library(folder, gpus=1, capability=(9, 0), cuda=12040, error=0):
    """NVIDIA's management library, as far as its documented functions go: put its folder into LD_LIBRARY_PATH."""
    major, minor = capability
    source = f"""
#include <stdio.h>
typedef struct {{ unsigned long long total, free, used; }} memory;
int nvmlInit_v2(void) {{ return {error}; }}
int nvmlShutdown(void) {{ return 0; }}
int nvmlDeviceGetCount_v2(unsigned* count) {{ *count = {gpus}; return 0; }}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) {{ *device = (void*)(long)(i + 1); return 0; }}
int nvmlDeviceGetName(void* device, char* text, unsigned n) {{ snprintf(text, n, "NVIDIA H200"); return 0; }}
int nvmlDeviceGetUUID(void* device, char* text, unsigned n) {{ snprintf(text, n, "GPU-%ld1aa", (long)device); return 0; }}
int nvmlDeviceGetMemoryInfo(void* device, memory* m) {{ m->total = 150ull << 30; m->free = m->total; m->used = 0; return 0; }}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {{ *major = {major}; *minor = {minor}; return 0; }}
int nvmlSystemGetDriverVersion(char* text, unsigned n) {{ snprintf(text, n, "550.54.15"); return 0; }}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {{ *version = {cuda}; return 0; }}
"""
    library(folder / "libnvidia-ml.so.1", source, soname="libnvidia-ml.so.1")
    library(folder / "libcuda.so.1", "int cuInit(unsigned flags) { return 0; }", soname="libcuda.so.1")
    return folder


def plain_blas(folder):
    """A BLAS of three nested loops, as the reference is."""
    source = """
void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* alpha, const float* a,
            const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc) {
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) {
      float sum = 0;
      for (int l = 0; l < *k; ++l) sum += a[i + l * *lda] * b[l + j * *ldb];
      c[i + j * *ldc] = *alpha * sum + *beta * c[i + j * *ldc];
    }
}
"""
    library(folder / "libblas.so.3", source, soname="libblas.so.3")
    return folder


def environment(folder, packages):
    """A virtual environment with these files in its site-packages; its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, capture_output=True)
    site = next((folder / "lib").glob("python3*/site-packages"))
    for name, text in packages.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    return folder / "bin" / "python", site


def torch_files(cuda):
    """PyTorch's files that say how it was built, in the form of its own packages."""
    tag = "cu" + cuda.replace(".", "") if cuda else "cpu"
    return {"torch/__init__.py": "raise SystemExit('imported')\n",
            "torch/version.py": "from typing import Optional\n"
                                f"__version__ = '2.5.1+{tag}'\ndebug = False\n"
                                f"cuda: Optional[str] = {cuda!r}\nhip: Optional[str] = None\n",
            "torch-2.5.1.dist-info/METADATA":
                "Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\n"
                + ("Requires-Dist: nvidia-cudnn-cu12==9.1.0.70; platform_system == \"Linux\"\n" if cuda else "")}


def in_own_mounts(script, command):
    """The command in a mount namespace of its own, after this shell script has changed it."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        raise Refused("no mount namespace can be made here (not root?)")
    return ["unshare", "-m", "sh", "-c", f'({script}) || exit 77; exec "$@"', "sh", *map(str, command)]


def forbid_perf_event_open():
    """A seccomp filter as containers have it; for the child of a fork."""
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    load, equal, give = 0x20, 0x15, 0x06  # of a word; jump if equal; return
    allow, refuse = 0x7FFF0000, 0x00050001  # EPERM
    code = [(load, 0, 0, 0), (equal, 0, 1, number), (give, 0, 0, refuse), (give, 0, 0, allow)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges
    if libc.prctl(22, 2, header, 0, 0):
        raise OSError(ctypes.get_errno(), "no seccomp filter can be set")
