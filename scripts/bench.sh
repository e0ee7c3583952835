#!/bin/bash
# Headway beside the bare limit and the peers, on this machine, in one run.
#   IMAGES=dir   JPEGs for T1 and T2 (drawn ones when not given: real photographs say more)
#   PNGS=dir     PNGs for T3 (drawn, 100x100)
#   SECONDS_EACH=n, THREADS=n, PEERS=0
set -euo pipefail
cd "$(dirname "$0")/.."
bench=build/release/bench
data=build/bench-data
threads=${THREADS:-2}

if [[ ${PEERS:-1} == 0 ]]; then
  peers=()
  echo "PEERS=0: the peers are left out"
else
  scripts/bench_setup.sh
  bench/peers/run_peer.py --list | python3 -c '
import json, sys
found = json.load(sys.stdin)
for name, about in found["installed"].items(): print("peer:", name, about["version"])
for name, reason in found["absent"].items(): print("PEER ABSENT:", name, "--", reason)'
  peers=(--peers)
fi

if [[ -z ${IMAGES:-} ]]; then
  IMAGES=$data/jpeg
  [[ -d $IMAGES ]] || build/release/headway make-data --out $IMAGES --count 500 --width 500 --height 375
fi
if [[ -z ${PNGS:-} ]]; then
  PNGS=$data/png
  [[ -d $PNGS ]] || build/release/headway make-data --out $PNGS --count 2000 --width 100 --height 100 --format png
fi

title() { printf '\n== %s\n' "$*"; }
for task in t1 t2 t3; do
  images=$IMAGES
  [[ $task == t3 ]] && images=$PNGS
  for mode in exact fast; do
    [[ $task == t3 && $mode == fast ]] && continue  # PNG has no fast mode
    with=()
    [[ $mode == exact ]] && with=("${peers[@]}")
    title "$task, $mode"
    $bench/feed_bench --task $task --mode $mode --images "$images" --threads "$threads" "${with[@]}"
  done
done
title "scalars"
$bench/feed_bench --task scalars --threads 1 "${peers[@]}"
title "records"
$bench/record_bench
title "pixels"
$bench/pixel_bench "$IMAGES"
