#!/bin/bash
# run.sh <test.py> <tool>: runs the test in the Python made by scripts/interop_setup.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../../scripts/interop_setup.sh" --where)
if [[ ${INTEROP:-1} == 0 ]]; then
  echo "skipped: INTEROP=0"
  exit 77
fi
if [[ ! -x $python ]]; then
  echo "skipped: no TensorFlow here yet; scripts/interop_setup.sh installs it"
  exit 77
fi
TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES='' exec "$python" "$@"
