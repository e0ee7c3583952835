#!/bin/bash
# On a machine where nothing can be installed: unpacks what scripts/carry.sh gathered, says all that is still missing at
# once, builds the release tree (without bench/) with libtorch from the PyTorch of its python3, and runs the demo's steps
# and the tests without those against TensorFlow. Ends with one line and a status to match.
#   JOBS=n          compilers and tests at once (all cores)
#   TEST_SECONDS=n  how long the tests may take together (300)
#   OUT=DIR         where the logs go (build/with_carried)
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
out=${OUT:-build/with_carried}
mkdir -p "$out"

missing=()
need() { command -v "$1" >/dev/null || missing+=("$1${2:+ ($2)}"); }
for tool in python3 ninja tar gzip; do need $tool; done
need cmake "3.25 or newer"
need g++ "12 or newer"
at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -1) == "$1" ]]; }
has=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
[[ ! $has ]] || at_least 3.25 "$has" || missing+=("cmake 3.25 or newer; this is $has")
has=$(g++ -dumpfullversion 2>/dev/null)
[[ ! $has ]] || at_least 12 "$has" || missing+=("g++ 12 or newer; this is $has")
[[ -n $(scripts/libtorch_setup.sh --where) ]] || missing+=("PyTorch of python3 ($(command -v python3))")
[[ -f carried/carried.tar.gz ]] || missing+=("carried/carried.tar.gz; scripts/carry.sh makes it on a Debian machine")
if ((${#missing[@]})); then
  printf 'missing: %s\n' "${missing[@]}"
  exit 1
fi
echo "g++ $(g++ -dumpfullversion), cmake $(cmake --version | sed -n 's/^cmake version //p'), $jobs jobs," \
  "torch in $(scripts/libtorch_setup.sh --where)"

say() { printf '\n== %s (%d s)\n' "$*" $SECONDS; }
failed=()
rm -rf build/carried && mkdir -p build && tar -C build -xzf carried/carried.tar.gz
carried=$PWD/build/carried/usr
libraries=$(dirname "$(find "$carried" -name 'libfmt.so' -print -quit)")
export CMAKE_PREFIX_PATH=$carried${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}  # for programs of tests that find us
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

say "configure"
cmake --preset release -DHEADWAY_BENCH=OFF -DCMAKE_PREFIX_PATH="$carried" -DCMAKE_LIBRARY_PATH="$libraries" >"$out/configure.log" 2>&1 ||
  { cat "$out/configure.log"; echo "failed: configure"; exit 1; }
tail -4 "$out/configure.log"
say "build"
# All that fails, not only the first.
cmake --build --preset release -j "$jobs" -- -k 0 >"$out/build.log" 2>&1 || {
  grep -E 'error|FAILED|undefined reference' "$out/build.log" | sort | uniq -c | sort -rn | head -60
  failed+=("build")
}
tail -1 "$out/build.log"
say "demo"
scripts/demo.sh >"$out/demo.log" 2>&1 || failed+=("demo")
tail -25 "$out/demo.log"
say "tests"
timeout "${TEST_SECONDS:-300}" ctest --test-dir build/release -LE 'interop|foreign|install' -j "$jobs" --timeout 120 --output-on-failure --no-tests=error \
  >"$out/ctest.log" 2>&1 || failed+=("tests")
sed -n '/tests passed/,$p' "$out/ctest.log" | head -60
say "end"
if ((${#failed[@]})); then echo "failed: ${failed[*]}"; exit 1; fi
echo "all passed"
