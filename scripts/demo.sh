#!/bin/bash
# Draws pictures, looks at them, packs them, feeds them both ways, trains on them and shows where
# the time went. Ends with status 1 when training does not reach ACCURACY.
# Everything it writes is under build/demo. COUNT=n draws another number of pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
headway=build/release/headway
demo=build/demo
count=${COUNT:-2000}
[[ -x $headway ]] || { echo "demo: $headway is not built; run make demo" >&2; exit 1; }

step() {
  printf '\n\033[1m$ %s\033[0m\n' "$*"
  "$@"
}
rm -rf $demo
step $headway make-data --out $demo/images --count "$count"
step $headway inspect $demo/images --shuffle --random-resized-crop 224x224 --random-flip --normalize --batch 64 \
  --sheet $demo/sheet.png
step $headway convert $demo/images $demo/records --shards 4 --shuffle 1
step $headway bench feed $demo/images --seconds 3
step $headway bench feed $demo/records --shuffle --random-resized-crop 224x224 --random-flip --normalize \
  --layout chw --batch 64 --seconds 3

accuracy=${ACCURACY:-0.88}
step $headway train --work $demo/run --epochs 6 --learning-rate 0.003 --schedule cosine --csv $demo/log.csv
reached=$(tail -1 $demo/log.csv | cut -d, -f5)
printf '\nvalidation accuracy %s, at least %s was promised\n' "$reached" "$accuracy"
awk -v a="$reached" -v b="$accuracy" 'BEGIN { exit !(a >= b) }'
