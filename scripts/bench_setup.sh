#!/bin/bash
# The peers for `make bench`: Debian's packages, TensorFlow (the interop tests' Python), a second
# Python for the rest, and the C++ peers in build/peers. A peer that does not install is named with
# the reason and left out. PyTorch comes from Debian, never from PyPI: that one weighs gigabytes.
#   bench_setup.sh           installs what is missing
#   bench_setup.sh --where   prints the path of the second Python, installed or not
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
requirements=bench/peers/requirements.txt
venv=$(venv_path bench "$requirements")
if [[ ${1:-} == --where ]]; then
  echo "$venv/bin/python"
  exit
fi

absent() { echo "PEER ABSENT: $1 -- $2"; }

scripts/setup.sh bench || absent "Debian's peers" "apt-get failed"
scripts/interop_setup.sh || absent tf.data "tensorflow-cpu does not install"

if [[ ! -e $venv/complete ]]; then
  echo "venv: making $venv from $requirements"
  "$base_python" -m venv "$venv" || exit 1
  failed=0
  while read -r package; do  # one by one: what fails must not take the others with it
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" </dev/null ||
      { absent "$package" "pip failed, see above"; failed=1; }
  done <$requirements
  ((failed)) || touch "$venv/complete"
fi

cmake -S bench/peers -B build/peers -G Ninja -DCMAKE_BUILD_TYPE=Release -DPEERS_VENV="$venv" >build/peers.log 2>&1 &&
  cmake --build build/peers >>build/peers.log 2>&1 ||
  absent "the C++ peers" "$(grep -m1 -iE 'error' build/peers.log)"
