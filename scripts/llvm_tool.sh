#!/bin/bash
# llvm_tool.sh NAME: the path of NAME, of the newest LLVM here that has it; CLANG=n in the environment asks for that one.
set -euo pipefail
for version in ${CLANG:-$(seq 30 -1 14)}; do
  command -v "$1-$version" && exit
done
if [[ ! ${CLANG:-} ]]; then command -v "$1" && exit; fi
echo "no $1${CLANG:+-$CLANG} here (LLVM 14 or newer): make setup installs clang; scripts/setup.sh dev what make format and tidy run" >&2
exit 1
