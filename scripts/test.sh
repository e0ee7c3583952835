#!/bin/bash
# Everything that can be tested here, in four build trees; ends with one line,
# "N passed, N failed, N skipped", and a status to match.
#   INTEROP=0        leaves out the tests against TensorFlow
#   FUZZ_SECONDS=n   how long each fuzzer runs (30)
#   TREES="release"  only some of the trees
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
results=build/test-results
rm -rf $results
mkdir -p $results

say() { printf '\n== %s\n' "$*"; }
# note failed|skipped NAME REASON: an outcome that no ctest run reports.
note() { printf '%s\t%s\t%s\n' "$@" >>$results/notes.tsv; echo "$1: $2 ($3)"; }

build() {
  say "build $1"
  cmake --preset "$1" >$results/configure-"$1".log 2>&1 || {
    cat $results/configure-"$1".log
    note failed "$1: configure" "see above"
    return 1
  }
  cmake --build --preset "$1" -j "$jobs" || {
    note failed "$1: build" "see above"
    return 1
  }
}

# run TREE NAME CTEST_ARGS...: one ctest run, its results in NAME.xml.
run() {
  local tree=$1 name=$2
  shift 2
  say "test $name"
  "${prefix[@]}" ctest --test-dir build/"$tree" --output-on-failure --no-tests=error -j "$jobs" \
    --output-junit "$PWD/$results/$name.xml" "$@" </dev/null
  [[ -s $results/$name.xml ]] || note failed "$name" "ctest wrote no results"
}
prefix=()

# probe FLAGS CODE: does a tiny program with this sanitizer run here?
probe() {
  local program=build/test-results/probe
  echo "$2" | g++ -x c++ "$1" -pthread -o $program - 2>/dev/null || return 1
  "${prefix[@]}" $program >/dev/null 2>&1
}

release() {
  build release || return
  say "Chromium and Python for the tests of reports and site"
  scripts/setup.sh browser && scripts/docs_setup.sh ||
    note failed "site: setup" "reports and site cannot be opened"
  if [[ ${INTEROP:-1} == 0 ]]; then
    echo "INTEROP=0: the tests against TensorFlow are left out"
  else
    say "Python for the interop tests"
    scripts/interop_setup.sh ||
      note failed "interop: setup" "no TensorFlow; make test INTEROP=0 goes without"
    scripts/setup.sh foreign ||
      note failed "foreign: setup" "no PyTorch for Python; make test INTEROP=0 goes without"
  fi
  run release release
}

asan() {
  build asan || return
  local leaks=1
  probe -fsanitize=address 'int main() {}' || {
    leaks=0
    note skipped "asan: leak check" "LeakSanitizer cannot trace processes here"
  }
  ASAN_OPTIONS=detect_leaks=$leaks run asan asan
}

tsan() {
  local code='#include <thread>
int main() { std::thread([] {}).join(); }'
  # Kernels that spread mappings wider than this sanitizer expects: ask for no spreading.
  if ! probe -fsanitize=thread "$code"; then
    prefix=(setarch -R)
    probe -fsanitize=thread "$code" || {
      prefix=()
      note skipped "tsan: every test" "the kernel refuses ThreadSanitizer's memory layout"
      return
    }
  fi
  build tsan && TSAN_OPTIONS=halt_on_error=1 run tsan tsan
  prefix=()
}

clang() {
  build clang || return
  local leaks=1
  [[ -f $results/notes.tsv ]] && grep -q 'asan: leak check' $results/notes.tsv && leaks=0
  ASAN_OPTIONS=detect_leaks=$leaks run clang clang -LE fuzz
  ASAN_OPTIONS=detect_leaks=$leaks run clang fuzz -L fuzz
}

for tree in ${TREES:-release asan tsan clang}; do
  "$tree"
done
python3 scripts/test_summary.py $results
