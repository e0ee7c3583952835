#!/bin/bash
# A Python with TensorFlow and Pillow for the interop tests, kept outside the build in
# ${HEADWAY_CACHE:-~/.cache/headway}. Reused while tests/interop/requirements.txt stays the same.
#   interop_setup.sh           installs what is missing, checks it by importing it
#   interop_setup.sh --where   prints the path of that Python, installed or not
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
requirements=tests/interop/requirements.txt
venv=$(venv_path interop "$requirements")
if [[ ${1:-} == --where ]]; then
  echo "$venv/bin/python"
  exit
fi
make_venv "$venv" "$requirements" "import tensorflow, PIL, numpy, tensorboard"
