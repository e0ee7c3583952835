#!/bin/bash
# Installs the Debian packages Headway needs, only those that are missing, and says so.
#   setup.sh           to build and test
#   setup.sh dev       also what `make format` and `make tidy` run
#   setup.sh bench     also the peers that Debian ships (about 1 GB)
#   setup.sh browser   also Chromium, in which tests open reports and the site
#   setup.sh foreign   also what the programs of tests/foreign are written in (PyTorch, Pillow)
# With nothing missing it needs no network and no rights.
set -euo pipefail

tools=(git make g++ cmake ninja-build ccache python3 python3-venv ca-certificates)
clang=(clang-14 libclang-rt-14-dev llvm-14)
libraries=(libfmt-dev libjpeg-dev libdeflate-dev libdw-dev libisal-dev libprotozero-dev
           libhwy-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libgtest-dev
           libgmock-dev zlib1g-dev)
# OpenBLAS with OpenMP: its threads are libtorch's own, so that the two do not fight for the cores.
torch=(libtorch-dev libopenblas0-openmp)
packages=("${tools[@]}" "${clang[@]}" "${libraries[@]}" "${torch[@]}")
for group in "$@"; do
  case $group in
    dev) packages+=(clang-format-14 clang-tidy-14 clang-tools-14) ;;
    bench) packages+=(python3-torch python3-torchvision libopencv-dev
                     libavdevice59 libavfilter8 libpython3.11) ;;
    browser) packages+=(chromium) ;;
    foreign) packages+=(python3-torch python3-pil util-linux) ;;
    *) echo "setup: no group called '$group' (dev, bench, browser, foreign)" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system, nothing installed; it takes the like of: ${packages[*]}"
  exit 0
fi

installed() { [[ $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) == *" installed" ]]; }
missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "setup: all ${#packages[@]} packages are here"
  exit 0
fi

as_root=()
if [[ $(id -u) != 0 ]]; then
  command -v sudo >/dev/null || {
    echo "setup: missing: ${missing[*]}" >&2
    echo "setup: run as root or with sudo: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "setup: installing ${#missing[@]} of ${#packages[@]} packages: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0)
"${apt[@]}" update </dev/null
"${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null
echo "setup: done"
