#!/bin/bash
# with_tools.sh CMD...: runs CMD with a CMake and a g++ that are new enough where the system's are not (Ubuntu 22.04):
# pip's CMake, which cmake_setup.sh keeps in the cache folder, and g++-12 where nobody has set CXX.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
bin=$("$scripts/cmake_setup.sh" --where)
export PATH=${bin:+$bin:}$PATH
if [[ ! ${CXX:-} ]] && command -v g++ g++-12 >/dev/null && (($(g++ -dumpversion | cut -d. -f1) < 12)); then
  export CXX=g++-12
fi
exec "$@"
