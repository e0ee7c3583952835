#!/bin/bash
# libtorch for a system without a package of it: PyTorch, whose wheel holds libtorch with its headers. The torch of the
# python3 that is found first is taken if there is one; else pip installs it into the cache folder, from pip's own index
# (PIP_INDEX_URL chooses another, say one with wheels for CPUs alone). cmake/FindTorch.cmake finds both.
#   libtorch_setup.sh           installs it if it is missing
#   libtorch_setup.sh --where   prints the folder of the torch package; nothing when there is none
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
requirements=scripts/libtorch-requirements.txt
venv=$(venv_path libtorch "$requirements")

# folder_of PYTHON: of its torch package, which is not imported: that takes seconds.
folder_of() {
  "$1" -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' 2>/dev/null || true
}

where() {
  local python folder
  for python in "$(command -v python3)" "$venv/bin/python"; do
    [[ -x $python ]] || continue
    folder=$(folder_of "$python")
    [[ -f $folder/include/ATen/ATen.h ]] && { echo "$folder"; return; }
  done
}

if [[ ${1:-} != --where && -z $(where) ]]; then
  make_venv "$venv" "$requirements" "import importlib.util; assert importlib.util.find_spec('torch')"
fi
where
