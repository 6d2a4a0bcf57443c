# The thin door: each target is one or two commands, which can be run without make just as well.
# Packages are in deps/debian.txt, build settings in CMakePresets.json.
PREFIX ?= /usr/local

.NOTPARALLEL:
.PHONY: release deps deps-build deps-test demo fast test test-all  soak lint bench install wheel gpu-bundle check-fresh \
    golden-update corpus litmus mutation reverts second-opinion \
    format clean help

# Release build: build/release/bin/grout.
release:
	@cmake --preset release >/dev/null
	cmake --build --preset release

# Installs every package of deps/debian.txt; demo and test need fewer.
deps:
	@tools/deps.sh
deps-build:
	@tools/deps.sh build
deps-test:
	@tools/deps.sh test

# The main job on real input.
demo: deps-build release
	@tools/demo.sh

# The same build with its tests, those of CI that find most in their time; then the demo.
test: deps-test
	cmake --workflow --preset test
	@tools/demo.sh

# What a change needs within a minute: quick lints, an incremental build, clang-tidy, the tests that it reaches.
# BASE=COMMIT: what has changed since then; by default since this branch left main.
BASE ?=
fast:
	@python3 tools/fast.py $(if $(BASE),--base $(BASE))

# The tests that 'make test' leaves out too; then clang with ASan, UBSan and all assertions, ThreadSanitizer, a failing
# n-th allocation, and for each fuzzer 5 s of a processor. Every legal form of wgmma takes longer: ctest --preset slow.
test-all: deps
	cmake --workflow --preset test-all
	@tools/demo.sh
	cmake --workflow --preset dev
	cmake --workflow --preset tsan
	tools/fuzz.sh 5

# The long forms of tools/soak, three hours on two cores: the optimised build. SOAK_SEED=2 draws other cases; SOAK_PYTHON is
# a Python that has the package grout.
SOAK_SEED ?= 1
SOAK_PYTHON ?=
soak: deps-test
	@cmake --preset test >/dev/null
	cmake --build --preset test --target grout_exe fuzz_ptx_run soak_one_process soak_ptx
	python3 tools/soak/kernels.py --grout build/release/bin/grout --seed $(SOAK_SEED)
	python3 tools/soak/ptx.py --program build/release/bin/fuzz_ptx_run --seed $(SOAK_SEED)
	python3 tools/soak/files.py --grout build/release/bin/grout --seed $(SOAK_SEED)
	python3 tools/soak/signals.py --grout build/release/bin/grout --seed $(SOAK_SEED)
	python3 tools/soak/kills.py --grout build/release/bin/grout --seed $(SOAK_SEED)
	python3 tools/soak/structure.py --grout build/release/bin/grout
	python3 tools/soak/one_process.py --program build/release/bin/soak_one_process --seed $(SOAK_SEED) \
	    $(if $(SOAK_PYTHON),--python $(SOAK_PYTHON))

lint: deps
	@tools/lint.sh

# Time and memory of interpreter and checker; see bench/.
bench: deps-build release
	@bench/run.sh build/release/bin

# The command, library, headers, manual pages, completions, documentation, kernels and what editors need.
# PREFIX=/usr/local; DESTDIR is honoured.
install: release
	cmake --install build/release --prefix "$(PREFIX)"

# dist/grout_gpu-*.whl: the Python package, with the library in it, alone there. Takes setuptools and cffi from PyPI.
wheel: deps-build
	rm -f dist/grout-*.whl dist/grout_gpu-*.whl
	python3 -m pip wheel ./python --no-deps -w dist

# build/gpu-bundle: the command, its libraries and the kernels, to carry to a GPU machine.
gpu-bundle: release
	@tools/gpu_bundle.sh

# The commands of README.md on the last commit, in a fresh Debian 12; needs root. SUITE=trixie: in a Debian 13.
SUITE ?= bookworm
check-fresh:
	@tools/check_fresh.sh $(SUITE)

# Writes what the goldens print into the goldens; read the diff.
golden-update: deps-test
	@cmake --preset test >/dev/null
	cmake --build --preset test --target grout_exe grout-expect
	cd tests/golden && python3 ../run_golden.py --update --grout ../../build/release/bin/grout *

# Checks the corpus of real bugs, the litmus programs and the mutants of the kernels under many
# schedules, and writes docs/corpus.md, docs/litmus.md and docs/mutation.md; with a row for each program and mutant,
# build/litmus.md and build/mutation.md.
corpus litmus: deps-test
	@cmake --preset test >/dev/null
	cmake --build --preset test --target grout_exe grout_expect
	python3 tests/$@/$@.py --grout build/release/bin/grout --seeds 20 --update $(if $(filter corpus,$@),--table,--table build/litmus.md)
mutation: release
	python3 tests/mutation/mutate.py --grout build/release/bin/grout --totals docs/mutation.md --markdown build/mutation.md kernels/*.grout
	python3 tests/mutation/fix.py --grout build/release/bin/grout --all --share 95 kernels/*.grout

# Puts each mistake of tests/reverts back and lets the drawn kernels find it; writes docs/reverts.md. Half an hour.
reverts:
	python3 tests/reverts/reverts.py find --work build/reverts --update

# Asks SentryWard (from PyPI) about the PTX of the kernels, the corpus and the litmus programs. Ten minutes.
second-opinion: release
	python3 tools/second_opinion.py --grout build/release/bin/grout

# Formats every C file.
format:
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs -r clang-format -i

clean:
	rm -rf build/dev build/tsan build/coverage build/release build/demo build/python3.13 build/reverts build/second-opinion

help:
	@sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' Makefile
