#!/bin/bash
# Makes pictures, packs them, feeds them both ways and shows where the time goes.
# Everything it writes is under build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
headway=build/release/headway
demo=build/demo
count=${COUNT:-1000}
[[ -x $headway ]] || { echo "demo: $headway is not built; run make demo" >&2; exit 1; }

step() { printf '\n$ %s\n' "$*"; "$@"; }
rm -rf $demo
step $headway make-data --out $demo/images --count "$count"
step $headway convert $demo/images $demo/records
step $headway bench feed $demo/images
step $headway bench feed $demo/records
