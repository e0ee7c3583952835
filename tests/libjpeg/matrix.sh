#!/bin/bash
# libjpeg-turbo of this Debian and of its newest suite (version 3), each with the interfaces of versions 6b, 7 and 8 (8 in
# Ubuntu, conda-forge, Arch, Alpine), under our decoder: the tests of the rooms io and image and the one
# for an unknown layout pass with each, all give the same pixels, and with our reader of codes each is as fast as the
# first one. Needs cmake, ninja, nasm and dpkg-dev; keeps what it builds in ${WORK:-build/libjpeg}.
#   matrix.sh                everything
#   matrix.sh build          only builds: stopped at any time, it goes on where it was
#   SUITES="bookworm sid"    other suites than this release and sid
#   MOST=1.03                how much longer a file may take than with the first one
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
source "$root/scripts/debian_sources.sh"
work=${WORK:-$root/build/libjpeg}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
suites=(${SUITES:-$release sid})
tests=(io_test image_test other_layout_test every_mode)
for tool in cmake ninja nasm dpkg-source; do
  command -v $tool >/dev/null || { echo "matrix: no $tool; install cmake, ninja-build, nasm and dpkg-dev" >&2; exit 1; }
done
mkdir -p "$work"

# source_of SUITE: its libjpeg-turbo, unpacked in $work/SUITE.
source_of() {
  [[ -d $work/$1 ]] && return
  rm -rf "$work/lists-$1" && mkdir -p "$work/lists-$1"
  debian_sources "$work/lists-$1" "$1"
  (cd "$work/lists-$1" && "${apt[@]}" source --download-only libjpeg-turbo && dpkg-source -x ./*.dsc unpacked)
  mv "$work/lists-$1/unpacked" "$work/$1"
}

# library SUITE INTERFACE: libjpeg-turbo in $work/SUITE-INTERFACE/jpeg.
library() {
  local at=$work/$1-$2 version=()
  [[ $2 == 6b ]] || version=(-DWITH_JPEG$2=ON)
  [[ -f $at/jpeg/include/jpeglib.h ]] && return
  cmake -S "$work/$1" -B "$at/jpeg-build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$at/jpeg" \
    -DCMAKE_INSTALL_LIBDIR="$at/jpeg/lib" "${version[@]}" -DENABLE_STATIC=OFF -DREQUIRE_SIMD=ON >/dev/null
  cmake --build "$at/jpeg-build"
  cmake --install "$at/jpeg-build" >/dev/null
}

# ours SUITE INTERFACE: our programs with it, in $work/SUITE-INTERFACE/headway.
ours() {
  local at=$work/$1-$2
  [[ -f $at/headway/build.ninja ]] || cmake -S "$root" -B "$at/headway" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG" -DHEADWAY_TRAIN=OFF -DCMAKE_BUILD_RPATH="$at/jpeg/lib" \
    -DJPEG_INCLUDE_DIR="$at/jpeg/include" -DJPEG_LIBRARY_RELEASE="$at/jpeg/lib/libjpeg.so" >/dev/null
  cmake --build "$at/headway" --target "${tests[@]}"
}

program() { find "$work/$1/headway" -name "$2" -type f -perm -u+x -print -quit; }

# loads VARIANT: its programs load its library, not the system's.
loads() {
  local found
  found=$(ldd "$(program "$1" every_mode)" | awk '/libjpeg/ { print $3 }')
  [[ $found == "$work/$1/jpeg/lib/"* ]] || { echo "matrix: $1 loads $found" >&2; exit 1; }
  echo "$1: $(basename "$(readlink -f "$found")")," \
    "$(sed -n 's/^#define LIBJPEG_TURBO_VERSION  */version /p' "$work/$1/jpeg/include/jconfig.h")," \
    "$(sed -n 's/^#define JPEG_LIB_VERSION  */interface /p' "$work/$1/jpeg/include/jconfig.h")," \
    "reader of codes: $("$(program "$1" every_mode)" reader)"
}

# pixels VARIANT: every file in every mode, as with the first variant.
pixels() {
  "$(program "$1" every_mode)" pixels "$work/files" >"$work/$1/pixels.txt"
  cmp "$work/${variants[0]}/pixels.txt" "$work/$1/pixels.txt"
  echo "$1: the same pixels in $(wc -l <"$work/$1/pixels.txt") decodings," \
    "$(grep -c refused "$work/$1/pixels.txt" || true) refused"
}

# Turn by turn, so that a slow minute of the machine meets all of them.
times() {
  local variant round
  rm -f "$work"/*/times.txt
  for round in 1 2 3 4 5 6 7; do
    for variant in "${variants[@]}"; do
      "$(program "$variant" every_mode)" time "$work/files" >>"$work/$variant/times.txt"
    done
  done
  (cd "$work" && awk -v most="${MOST:-1.03}" -v first="${variants[0]}" '
    { name = FILENAME; sub("/.*", "", name) }
    !(name in ours) || $1 < ours[name] { ours[name] = $1 }
    !(name in own) || $2 < own[name] { own[name] = $2 }
    END {
      for (name in ours) {
        ratio = ours[name] / ours[first]
        printf "%s: %.0f us per file with our reader, %.3f of the time of %s; %.0f us with its own\n", \
          name, ours[name], ratio, first, own[name]
        if (ratio > most) slow = 1
      }
      exit slow
    }' "${variants[@]/%//times.txt}" | sort)
}

variants=()
for suite in "${suites[@]}"; do
  source_of "$suite"
  for interface in 6b 7 8; do
    variants+=("$suite-$interface")
    library "$suite" $interface
    ours "$suite" $interface
  done
done
[[ ${1:-} == build ]] && exit

for variant in "${variants[@]}"; do
  loads "$variant"
  for test in io_test image_test other_layout_test; do
    "$(program "$variant" $test)" --gtest_brief=1 >"$work/$variant/$test.txt" 2>&1 ||
      { cat "$work/$variant/$test.txt"; echo "matrix: $test fails with $variant" >&2; exit 1; }
    echo "$variant: $test: $(grep -E 'PASSED|SKIPPED.*test' "$work/$variant/$test.txt" | tr -s '\n ' ' ')"
  done
done
rm -rf "$work/files" && mkdir -p "$work/files"
"$(program "${variants[0]}" every_mode)" draw "$work/files"
for suite in "${suites[@]}"; do cp -r "$work/$suite/testimages" "$work/files/of_$suite"; done
for variant in "${variants[@]}"; do pixels "$variant"; done
times
