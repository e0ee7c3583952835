# Sourced. Virtual environments in the cache folder, one per requirements file and Python version.
headway_cache=${HEADWAY_CACHE:-${HOME:-/tmp}/.cache/headway}
# The system's Python before any other: its version is the one the pins were tried with.
base_python=$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || command -v python3)

# venv_path NAME REQUIREMENTS: where that environment lives.
venv_path() {
  local version key
  version=$("$base_python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  key=$(sha256sum "$2" | cut -c1-8)
  echo "$headway_cache/$1-py$version-$key"
}

# make_venv PATH REQUIREMENTS CHECK: makes it unless CHECK (a Python statement) already runs in it.
# What could not be finished is removed again.
make_venv() {
  local path=$1 requirements=$2 check=$3
  if [[ -x $path/bin/python ]] && "$path/bin/python" -c "$check" >/dev/null 2>&1; then
    echo "venv: $path is ready"
    return
  fi
  echo "venv: making $path from $requirements"
  rm -rf "$path"
  mkdir -p "$(dirname "$path")"
  if ! { "$base_python" -m venv "$path" &&
         "$path/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" &&
         "$path/bin/python" -c "$check" >/dev/null; }; then
    rm -rf "$path"
    echo "venv: could not make $path" >&2
    return 1
  fi
}
