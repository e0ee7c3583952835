#!/bin/bash
# How often is the doctor right? The proving ground (runs on Headway, live and recorded), then
# TensorFlow, Keras and PyTorch programs watched from outside; one table, one confusion matrix.
#   JSON=FILE    every case, for machines
#   FOREIGN=0    leaves the programs of other frameworks out (about 25 minutes)
set -uo pipefail
cd "$(dirname "$0")/.."
more=()
if [[ ${FOREIGN:-1} == 0 ]]; then
  echo "FOREIGN=0: the programs of other frameworks are left out"
else
  scripts/setup.sh foreign && scripts/interop_setup.sh &&
    python3 tests/foreign/run_foreign.py --headway "$PWD/build/release/headway" \
      --json build/foreign-score.json && more=(--more build/foreign-score.json)
  [[ -s build/foreign-score.json ]] && more=(--more build/foreign-score.json)
fi
python3 tests/proving/score.py --gain "${more[@]}" ${JSON:+--json "$JSON"}
