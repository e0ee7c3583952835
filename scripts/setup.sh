#!/bin/bash
# Installs the packages Headway needs, only those that are missing, and says so. Knows Debian 12 and 13 and Ubuntu 22.04
# and 24.04; elsewhere it prints what is needed.
#   setup.sh           to build and test
#   setup.sh build     to build only: without clang
#   setup.sh dev       also what `make format` and `make tidy` run
#   setup.sh bench     also the peers that the system ships (about 1 GB)
#   setup.sh browser   also Chromium, in which tests open reports and the site
#   setup.sh foreign   also what the programs of tests/foreign are written in (PyTorch, Pillow)
# With nothing missing it needs no network and no rights.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh

packages=("${tools[@]}" "${libraries[@]}" "${torch[@]}")
[[ $* == build ]] || packages+=("${clang[@]}")
for group in "$@"; do
  case $group in
    build) ;;
    dev) packages+=("${dev[@]}") ;;
    bench) packages+=("${bench[@]}") ;;
    browser) packages+=("${browser[@]}") ;;
    foreign) packages+=("${foreign[@]}") ;;
    *) echo "setup: no group called '$group' (build, dev, bench, browser, foreign)" >&2; exit 2 ;;
  esac
done

if [[ ! $known ]] || ! command -v dpkg-query >/dev/null; then
  echo "setup: '$system' is not a system this script knows (Debian 12 and 13, Ubuntu 22.04 and 24.04): nothing is installed."
  echo "setup: install the like of: ${packages[*]}"
  echo "setup: and g++ 12 or clang++ 14 or newer, CMake 3.25 or newer, and libtorch 1.13 or newer: a package, or"
  echo "setup: PyTorch for the python3 that is found first, or -DHEADWAY_TORCH_FOLDER=/path/to/torch"
  exit 0
fi

# What a package cannot give here: libtorch where there is none, CMake where it is too old.
rest() {
  ((${#torch[@]})) || scripts/libtorch_setup.sh
  scripts/cmake_setup.sh
}

installed() { [[ $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) == *" installed" ]]; }
missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "setup: all ${#packages[@]} packages are here"
  rest
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
rest
echo "setup: done"
