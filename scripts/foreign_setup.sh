#!/bin/bash
# py-spy, the other reader of Python stacks, for tests/foreign/stack_agreement.py; in the cache folder like the interop
# Python. Reused while tests/foreign/requirements.txt stays the same.
#   foreign_setup.sh           installs what is missing, checks it by running it
#   foreign_setup.sh --where   prints the path of the Python beside it, installed or not
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
requirements=tests/foreign/requirements.txt
venv=$(venv_path foreign "$requirements")
if [[ ${1:-} == --where ]]; then
  echo "$venv/bin/python"
  exit
fi
make_venv "$venv" "$requirements" \
  "import pathlib, subprocess, sys; subprocess.check_call([pathlib.Path(sys.executable).parent / 'py-spy', '--version'])"
