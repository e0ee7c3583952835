#!/bin/bash
# How often is the doctor right? Programs of other frameworks watched from outside, the blind rounds among them; the
# ledger against the truth; neighbours; then the proving ground (runs on Headway, live and recorded), one table, one
# confusion matrix. Status 0 if all of it went well. What the first runs of the rounds gave stands in docs/score.md.
#   JSON=FILE    every case, for machines
#   FOREIGN=0    leaves the programs of other frameworks out (about 30 minutes, and half an hour for each round)
#   BESIDE=2     repeats them beside two busy processes; results in build/foreign-beside.json
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
more=()
headway=$PWD/build/release/headway
examine() { /usr/bin/env python3 -B "tests/foreign/$1" --headway "$headway" "${@:2}" || status=1; }

if [[ ${FOREIGN:-1} == 0 ]]; then
  echo "FOREIGN=0: the programs of other frameworks are left out"
else
  # What cannot be installed is skipped by name.
  scripts/setup.sh foreign
  scripts/interop_setup.sh
  scripts/loops_setup.sh
  rm -f build/foreign-*.json
  examine run_foreign.py --set all --steady --json build/foreign-score.json
  [[ -s build/foreign-score.json ]] && more=(--more build/foreign-score.json)
  if [[ ${BESIDE:-0} != 0 ]]; then
    examine run_foreign.py --set all --steady --beside "$BESIDE" --json build/foreign-beside.json
  fi
  examine truth.py --json build/foreign-truth.json
  examine neighbours.py --json build/foreign-neighbours.json
fi
python3 tests/proving/score.py --gain "${more[@]}" ${JSON:+--json "$JSON"} || status=1
exit $status
