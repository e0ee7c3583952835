#!/bin/bash
# CMake 3.25 or newer: where the system's is older (Ubuntu 22.04), pip's, in the cache folder.
#   cmake_setup.sh           installs it if it is needed
#   cmake_setup.sh --where   prints its folder; nothing when the system's will do, or there is none yet
set -euo pipefail
cd "$(dirname "$0")/.."
needed=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
has=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p') || true
if [[ ! $has || $(printf '%s\n' "$needed" "$has" | sort -V | head -1) == "$needed" ]]; then exit; fi

source scripts/venv.sh
venv=$(venv_path cmake scripts/cmake-requirements.txt)
if [[ ${1:-} == --where ]]; then
  [[ ! -x $venv/bin/cmake ]] || echo "$venv/bin"
else
  make_venv "$venv" scripts/cmake-requirements.txt "import cmake"
fi
