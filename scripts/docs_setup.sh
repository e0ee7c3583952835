#!/bin/bash
# A Python with what makes the site and the screenshots of docs (Markdown, colours of code, a terminal), in the cache folder like the
# interop Python. Reused while docs/site/requirements.txt stays the same.
#   docs_setup.sh           installs what is missing, checks it by importing it
#   docs_setup.sh --where   prints the path of that Python, installed or not
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
requirements=docs/site/requirements.txt
venv=$(venv_path docs "$requirements")
if [[ ${1:-} == --where ]]; then
  echo "$venv/bin/python"
  exit
fi
make_venv "$venv" "$requirements" "import markdown_it, mdit_py_plugins, pygments, PIL, pyte"
