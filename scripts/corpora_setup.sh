#!/bin/bash
# The image corpora of Pillow, libjpeg-turbo and PngSuite (which libspng's sources hold), kept outside
# the build in ${HEADWAY_CACHE:-~/.cache/headway}/corpora. They come as source packages, from PyPI and
# from Debian; nothing is installed. Also the Python of the interop tests, whose Pillow names the version.
#   corpora_setup.sh           fetches what is missing
#   corpora_setup.sh --where   prints the path of that folder, there or not
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
source scripts/debian_sources.sh
corpora=$headway_cache/corpora
if [[ ${1:-} == --where ]]; then
  echo "$corpora"
  exit
fi
mkdir -p "$corpora"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keep NAME TARBALL PATTERN: the files of that pattern become corpora/NAME, all at once.
keep() {
  mkdir "$work/$1"
  tar -xf "$2" -C "$work/$1" --wildcards "$3"
  mv "$work/$1" "$corpora/$1"
  echo "corpora: $1 has $(find "$corpora/$1" -type f | wc -l) files"
}

# debian NAME PACKAGE PATTERN
debian() {
  [[ -d $corpora/$1 ]] && return
  [[ -d $work/apt ]] || debian_sources "$work/apt"
  (cd "$work" && "${apt[@]}" source --download-only --tar-only "$2")
  keep "$1" "$work/$2"_*.orig.tar.* "$3"
}

scripts/interop_setup.sh
if [[ ! -d $corpora/pillow ]]; then
  "$(scripts/interop_setup.sh --where)" -m pip download --quiet --disable-pip-version-check --dest "$work" \
    --no-deps --no-binary pillow "$(grep '^pillow' tests/interop/requirements.txt)"
  keep pillow "$work"/pillow-*.tar.gz '*/Tests/images/*'
fi
debian libjpeg-turbo libjpeg-turbo '*/testimages/*'
debian pngsuite libspng '*.png'
