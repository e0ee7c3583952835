#!/bin/bash
# run.sh <path>/<name>_fuzz: fuzzes for FUZZ_SECONDS (30) from tests/fuzz/corpus/<name>.
# A finding is left in the build tree, beside the program.
set -euo pipefail
program=$1
name=$(basename "$program" _fuzz)
seeds=$(dirname "$0")/corpus/$name
found=$(dirname "$program")/found/$name
mkdir -p "$seeds" "$found"
exec "$program" "$found" "$seeds" -max_total_time="${FUZZ_SECONDS:-30}" -timeout=10 \
  -rss_limit_mb=2048 -artifact_prefix="$found-crash-" -print_final_stats=1 -verbosity=1
