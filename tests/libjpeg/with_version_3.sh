#!/bin/bash
# with_version_3.sh PROGRAM...: runs it with libjpeg-turbo 3 in the place of the system's. Pillow's
# wheel brings one, under the same name but for a checksum; scripts/interop_setup.sh installs it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
skip() {
  echo "skipped: $*"
  exit 77
}
python=$("$here/../../scripts/interop_setup.sh" --where)
[[ -x $python ]] || skip "no libjpeg-turbo 3 here yet; scripts/interop_setup.sh installs Pillow, which has it"
shopt -s nullglob
libraries=("${python%/bin/python}"/lib/python3*/site-packages/pillow.libs/libjpeg-*.so.62*)
((${#libraries[@]} == 1)) || skip "this Pillow brings no libjpeg.so.62"
grep -qa "libjpeg-turbo version 3" "${libraries[0]}" || skip "this Pillow brings another libjpeg-turbo than 3"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "${libraries[0]}" "$folder/libjpeg.so.62"
grep -ao "libjpeg-turbo version 3[0-9.]*" "${libraries[0]}" >&2
[[ $(LD_LIBRARY_PATH=$folder ldd "$1") == *"libjpeg.so.62 => $folder/"* ]] || {
  echo "$1 does not load libjpeg.so.62"
  exit 1
}
LD_LIBRARY_PATH=$folder "$@"
