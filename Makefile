# `make` alone lists what there is. INTEROP=0 leaves TensorFlow out of `make test`;
# `make score JSON=FILE FOREIGN=0 BESIDE=2`: results for machines; without the programs of other frameworks; with
# these once more beside two busy processes.
# JOBS=n limits the compilers that run at once; FUZZ_SECONDS=n sets how long each fuzzer runs.
JOBS ?= $(shell nproc)
INTEROP ?= 1
export JOBS INTEROP JSON FOREIGN BESIDE

.DEFAULT_GOAL := help
.PHONY: help setup build demo test score bench docs format tidy clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup:  ## install what is missing (Debian and Ubuntu packages); idempotent, offline when nothing is
	@scripts/setup.sh

build:  ## the release tree: build/release/headway
	@scripts/setup.sh build
	@scripts/with_tools.sh cmake --preset release
	@scripts/with_tools.sh cmake --build --preset release -j $(JOBS)

demo:  ## make images, convert them, feed them, train on them, show where the time goes
	@scripts/setup.sh build
	@scripts/with_tools.sh cmake --preset release
	@scripts/with_tools.sh cmake --build --preset release -j $(JOBS) --target headway headway-train
	@scripts/demo.sh

test: setup  ## every tree, every test, one closing line
	@scripts/with_tools.sh scripts/test.sh

score: build  ## how often the doctor is right: every program, every blind round; JSON=FILE
	@scripts/score.sh

bench: build  ## speed beside the bare limit and the peers
	@scripts/bench.sh

docs:  ## the guide, the causes and the reference as a site: build/site/index.html
	@scripts/docs_setup.sh
	@"$$(scripts/docs_setup.sh --where)" -B docs/site/build.py build/site

format:  ## clang-format on every C++ file
	@scripts/setup.sh dev
	@git ls-files '*.h' '*.cpp' '*.cu' | xargs -r "$$(scripts/llvm_tool.sh clang-format)" -i

tidy:  ## clang-tidy on every C++ file
	@scripts/setup.sh dev
	@scripts/with_tools.sh cmake --preset clang -DHEADWAY_EYES=ON
	@"$$(scripts/llvm_tool.sh run-clang-tidy)" -clang-tidy-binary "$$(scripts/llvm_tool.sh clang-tidy)" -quiet -p build/clang -j $(JOBS) '$(CURDIR)/headway/'

clean:  ## remove build/ (not the cache folder)
	rm -rf build
