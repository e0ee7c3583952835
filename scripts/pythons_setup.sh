#!/bin/bash
# Other CPythons for tests/foreign/stack_agreement.py, from the archives of Debian and Ubuntu, each unpacked into a small
# root of its own: ${HEADWAY_CACHE:-~/.cache/headway}/pythons/3.X. Nothing of the system is changed. They are run by
# chroot, since a Python of a newer release needs its own libc; so it takes root.
#   pythons_setup.sh           fetches what is missing, checks each by running it; what cannot be had is said and left out
#   pythons_setup.sh --where   prints "VERSION ROOT" for each that is there
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
home=$headway_cache/pythons

debian="http://deb.debian.org/debian /usr/share/keyrings/debian-archive-keyring.gpg"
ubuntu="http://archive.ubuntu.com/ubuntu $home/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"
pythons=("3.8 focal $ubuntu" "3.9 bullseye $debian" "3.10 jammy $ubuntu" "3.12 noble $ubuntu" "3.13 trixie $debian"
         "3.14 sid $debian")

works() { chroot "$1" "/usr/bin/python$2" -c 'import threading, json, time' >/dev/null 2>&1; }

if [[ ${1:-} == --where ]]; then
  for row in "${pythons[@]}"; do
    version=${row%% *}
    works "$home/$version" "$version" && echo "$version $home/$version"
  done
  exit 0
fi

if [[ $(id -u) != 0 ]] || ! command -v apt-get dpkg-deb >/dev/null; then
  echo "skipped: other Pythons need root and apt" >&2
  exit 77
fi

# unpack ROOT SUITE ARCHIVE KEYS PACKAGE...: by an apt of our own, whose lists are thrown away.
unpack() {
  local root=$1 suite=$2 archive=$3 keys=$4 apt
  shift 4
  apt=$(mktemp -d) || return
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$apt/parts"
  echo "deb [signed-by=$keys arch=amd64] $archive $suite main" >"$apt/sources.list"
  touch "$apt/status"
  local get=(apt-get -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts="$apt/parts"
             -o Dir::State::Lists="$apt/lists" -o Dir::State::Status="$apt/status" -o Dir::Cache="$apt/cache"
             -o APT::Sandbox::User=root -o Acquire::Languages=none -o APT::Architecture=amd64)
  (cd "$apt/debs" && "${get[@]}" update && "${get[@]}" download "$@") >"$apt/log" 2>&1 </dev/null
  local status=$?
  ((status == 0)) || tail -2 "$apt/log"
  mkdir -p "$root"
  for deb in "$apt"/debs/*.deb; do
    ((status == 0)) && { dpkg-deb -x "$deb" "$root" || status=1; }
  done
  rm -rf "$apt"
  return $status
}

# make VERSION SUITE ARCHIVE KEYS
make() {
  local version=$1 suite=$2 root
  root=$(mktemp -d "$home/making.XXXXXX")
  unpack "$root" "$2" "$3" "$4" "python$version-minimal" "libpython$version-minimal" "libpython$version-stdlib" \
    libc6 zlib1g libexpat1 || { rm -rf "$root"; return 1; }
  for folder in lib lib64; do  # where /usr is merged, the packages rely on these links
    [[ -e $root/$folder ]] || ln -s "usr/$folder" "$root/$folder"
  done
  mkdir -p "$root/tmp"
  works "$root" "$version" || { echo "unpacked, but it does not run"; rm -rf "$root"; return 1; }
  chmod 755 "$root"
  rm -rf "${home:?}/$version"
  mv "$root" "$home/$version"
}

mkdir -p "$home"
# Debian carries Ubuntu's keys, signed with its own.
[[ -r ${ubuntu#* } ]] || unpack "$home/keys" trixie $debian ubuntu-keyring
failed=0
for row in "${pythons[@]}"; do
  read -r version suite archive keys <<<"$row"
  if works "$home/$version" "$version"; then
    echo "python $version: ready"
  elif why=$(make "$version" "$suite" "$archive" "$keys"); then
    echo "python $version: made from $suite"
  else
    echo "skipped: python $version ($suite): $why" >&2
    failed=1
  fi
done
exit $failed
