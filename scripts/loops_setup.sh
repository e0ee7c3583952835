#!/bin/bash
# A Python with Lightning, the Hugging Face Trainer and JAX for tests/foreign, in the cache folder like the interop
# Python (6 GB: its PyTorch brings CUDA). Reused while tests/foreign/loops_requirements.txt stays the same.
#   loops_setup.sh           installs what is missing, checks it by importing it
#   loops_setup.sh --where   prints the path of that Python, installed or not
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/venv.sh
requirements=tests/foreign/loops_requirements.txt
venv=$(venv_path loops "$requirements")
if [[ ${1:-} == --where ]]; then
  echo "$venv/bin/python"
  exit
fi
export PYTHONWARNINGS=ignore
check="import torch, lightning.pytorch, pytorch_lightning, transformers, accelerate, jax, optax, sklearn, PIL
from transformers import Trainer"
make_venv "$venv" "$requirements" "$check"
