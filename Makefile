# make demo   build, and run one example
# make test   the Rust tests, the Erlang programs in the modes normal, gc, yield and s64, and a sample of OTP's own sources
# make bench  compare with a stock emulator (HEDDLE_STOCK=PATH/TO/erl)
# make check  formatting and lints
# make otp    OTP's libraries, where they are or fetched into build/otp
# make conformance  OTP 27's own test suites, compared case by case with what stock passes (tests/conformance/run --help)

ERL := bin/erl
JOBS ?= 2
MODES ?= normal,gc,yield,s64
RUN := HEDDLE_OTP="$$(tools/find-otp)"

.PHONY: build demo test bench check otp conformance

build:
	cargo build --release

otp:
	@tools/find-otp

demo: build
	$(RUN) target/release/heddle run examples/ring.erl

test: build
	cargo test --workspace
	tests/tail-calls
	$(RUN) tests/run --erl $(ERL) --mode $(MODES) --jobs $(JOBS)
	$(RUN) tests/self-host --jobs $(JOBS)
	$(RUN) tests/shell_tmux.py $(ERL)

bench: build
	$(RUN) bench/compare --erl $(ERL)

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# OTP's own suites: WHAT="stdlib kernel:file_SUITE" limits it; see tests/conformance/run --help
conformance: build
	$(RUN) tests/conformance/run --erl $(ERL) --jobs $(JOBS) $(WHAT)
