#!/bin/bash
# For a machine where nothing can be installed and nothing fetched: puts the headers and libraries of scripts/packages.sh
# that are not libtorch, of this Debian, into carried/carried.tar.gz (some MB; git ignores the folder). There,
# scripts/with_carried.sh builds and tests with them.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every machine has these, newer ones most often.
everywhere='^(libc6|libc6-dev|libc-dev|libc-dev-bin|linux-libc-dev|libcrypt|libgcc|libstdc|gcc|libnsl|libtirpc|rpcsvc|libbz2-1|liblzma|libzstd1|zlib1g|libcom-err|libgssapi|libk5|libkey|libkrb|libssl)'
wanted=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
  "${libraries[@]}" | grep -E '^[a-z0-9]' | sed 's/:.*//' | grep -vE "$everywhere" | sort -u |
  while read -r name; do [[ $(apt-cache policy "$name") != *"Candidate: "[0-9]* ]] || echo "$name"; done)
echo "carry:" $wanted
(cd "$work" && apt-get -q download $wanted && for package in *.deb; do dpkg-deb -x "$package" all; done)

mkdir -p "$work/carried"
[[ ! -d $work/all/lib ]] || cp -a "$work/all/lib/." "$work/all/usr/lib/"
mv "$work/all/usr" "$work/carried/usr"
cd "$work/carried/usr"
rm -rf share/doc share/man share/lintian share/bug share/gdb bin src
find . -type l | while read -r link; do  # into a system that is not there
  [[ $(readlink "$link") != /* ]] || ln -sfn "$(basename "$(readlink "$link")")" "$link"
done
dangling=$(find . -xtype l)
[[ -z $dangling ]] || { echo "carry: these links lead nowhere:" $dangling >&2; exit 1; }
find . -name '*.a' ! -name 'libg*.a' -delete  # the shared ones are there; GoogleTest has only these
# Only Debian's compiler looks into the folder of the architecture by itself.
for folder in include/*-linux-gnu*; do
  [[ -d $folder ]] && cp -r "$folder"/. include/ && rm -rf "$folder"
done
cd - >/dev/null
mkdir -p carried
tar -C "$work" -czf carried/carried.tar.gz carried
du -h carried/carried.tar.gz
