# Sourced. Source packages from where this Debian has its packages, without changing its lists.

# debian_sources FOLDER [SUITE]: makes package lists for sources below FOLDER, of this Debian's release or of another
# suite (sid), and sets the array `apt` to the apt-get that reads them.
debian_sources() {
  local folder=$1 suite=${2:-} sources
  mkdir -p "$folder"/{parts,state/lists/partial,cache/archives/partial}
  sources=$(repositories "$suite")
  [[ -n $sources ]] || { echo "sources: apt knows no repository of Debian here" >&2; return 1; }
  echo "$sources" >"$folder/parts/debian.list"
  apt=(apt-get -q -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none
       -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/parts"
       -o Dir::State="$folder/state" -o Dir::Cache="$folder/cache")
  "${apt[@]}" update
}

repositories() {
  local suite=$1 release keys=/usr/share/keyrings/debian-archive-keyring.gpg signed=
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  [[ -f $keys ]] && signed="[signed-by=$keys] "
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' "Codename: $release" |
    sort -u | while read -r uri codename; do echo "deb-src $signed$uri ${suite:-$codename} main"; done
}
