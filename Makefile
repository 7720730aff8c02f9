# make demo   build, and run one example
# make test   all of TESTS below (each is a target of its own): the Rust tests, the Erlang programs in all memory architectures and tiers (MODES below), and a sample of OTP's own sources
# make same-code   compare the code of operations and the cells of the loader with the record (BLESS=1 accepts; tests/same-code --help)
# make servers  RabbitMQ, ejabberd and yaws from the distribution's packages, TLS and SSH with other programs as peers, releases, calls between two nodes (part of make test)
# make nodes    what stands on the distribution, a cluster of RabbitMQ, random traffic with faults, peers that attack (HEDDLE_STOCK=PATH/TO/erl: one of the nodes is stock)
# make loom   the lock-free structures in all interleavings that the memory model allows
# make bench  compare with a stock emulator (HEDDLE_STOCK=PATH/TO/erl)
# make fuzz   mutated beam files, external terms and packets of other nodes (BEAMS=1000000 TERMS=10000000 SEED=1)
# make models   structures against plain models, OPERATIONS=100000000 each
# make sequences  sequences of operations, compared with a stock emulator (HEDDLE_STOCK=PATH/TO/erl SECONDS=600 SEED=1)
# make differential  random programs, compared with a stock emulator (HEDDLE_STOCK=PATH/TO/erl SECONDS=600 SEED=1)
# make install PREFIX=/usr/local   the emulator and its programs in PREFIX/lib/heddle, with links in PREFIX/bin (DESTDIR goes before it)
# make check  formatting and lints (.ci/run begins with it)
# make otp    OTP's libraries, where they are or fetched into build/otp
# make conformance  OTP 27's own test suites, compared case by case with what stock passes (tests/conformance/run --help)

ERL := bin/erl
PREFIX ?= /usr/local
JOBS ?= 2
# An emulator takes a second to start in these modes: programs that want one of their own are left out (tests/run --mode jit has them all).
SLOW_TO_START ?= jit,jit_chaos
# Emulators at a time in tests/run: more than cores, as many programs wait for timeouts.
PROGRAM_JOBS ?= 4
MODES ?= normal,gc,yield,s64,sequential,jit_tiny,hybrid,hybrid_gc,hybrid_s64,shared,shared_gc,shared_s64
BEAMS ?= 1000000
TERMS ?= 10000000
SEED ?= 1
SECONDS ?= 600
OPERATIONS ?= 100000000
COMMA := ,
RUN := HEDDLE_OTP="$$(tools/find-otp)"

.PHONY: build demo ready test test-rust test-code test-texts test-programs test-install test-differential test-self-host test-shell test-stress test-tools servers nodes loom bench fuzz models sequences differential check otp conformance same-code install

build:
	cargo build --release
	@tools/compile-modules

otp:
	@tools/find-otp

install: build
	tools/install "$(DESTDIR)$(PREFIX)"

demo: build
	@$(RUN) tools/compile-modules && $(RUN) tools/make-root
	$(RUN) target/release/heddle run examples/ring.erl

# What the parts of `make test` need.
ready: build
	@$(RUN) tools/compile-modules && $(RUN) tools/make-root

# A part that fails does not keep the others from running.
TESTS := test-rust loom test-code test-texts test-programs test-install test-differential test-self-host test-shell test-stress test-tools servers

test: ready
	@$(MAKE) --no-print-directory --keep-going $(TESTS)

test-rust: ready
	$(RUN) cargo test --workspace --no-fail-fast

# The lock-free structures in all interleavings, by a model of the memory.
loom:
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release -p heddle-sync --test loom

# The code of operations, the dependencies between modules, the orderings of atomic operations.
test-code: ready
	tests/tail-calls
	$(RUN) tests/same-code
	$(RUN) python3 tests/same-code.d/test_same_code.py
	tests/module-graph
	python3 tests/module-graph.d/test_module_graph.py
	tests/orderings

test-texts:
	tests/plain-english
	python3 tests/plain-english.d/test_plain_english.py
	tests/documents
	python3 tests/documents.d/test_documents.py

test-programs: ready
	$(RUN) tests/run --erl $(ERL) --mode $(MODES) --jobs $(PROGRAM_JOBS)
	$(RUN) tests/run --erl $(ERL) --mode $(SLOW_TO_START) --shared --jobs $(PROGRAM_JOBS)

test-install: ready
	$(RUN) tests/install

test-differential: ready
	$(RUN) tests/differential/run --recorded --count 100
	$(RUN) tests/differential/sequences/run --recorded

test-self-host: ready
	$(RUN) tests/self-host --jobs $(JOBS)

test-shell: ready
	$(RUN) tests/shell_tmux.py $(ERL)

test-stress: ready
	HEDDLE_ZEAL=yield $(RUN) tests/stress/run 20 --erl $(ERL)

# The testers' own tests.
test-tools:
	python3 tests/stress/test_watch.py
	python3 tests/cluster/test_cluster.py Plan Through
	python3 bench/test_scaling.py
	python3 bench/test_heaps.py
	python3 bench/test_network.py
	python3 bench/test_nodes.py

SERVERS := peers yaws ejabberd rabbitmq nodes releases chaos
# Of those that take long, what `make test` runs.
nodes_OPTIONS := --only calls,starting
chaos_OPTIONS := --minutes 0.3

servers: $(SERVERS:%=server-%)

server-%: ready
	$(RUN) tests/servers/$* --erl $(ERL) $($*_OPTIONS)

nodes: build
	$(RUN) tests/servers/nodes --erl $(ERL) $(if $(HEDDLE_STOCK),--other $(HEDDLE_STOCK))
	$(RUN) tests/servers/rabbitmq_cluster --erl $(ERL) $(if $(HEDDLE_STOCK),--other $(HEDDLE_STOCK))
	$(RUN) tests/cluster/run --nodes heddle,heddle$(if $(HEDDLE_STOCK),$(COMMA)stock27) --seconds 60
	cargo build --release -p heddle-dist --examples
	$(RUN) tests/hostile/run --seconds 60 --erl $(ERL)

bench: build
	$(RUN) bench/compare --erl $(ERL)

# The loader keeps atoms and literals of what it accepts, as a running VM does: fewer of those.
fuzz:
	cargo build --release --bins --examples
	target/release/fuzz_etf --count $(TERMS) --seed $(SEED)
	target/release/examples/fuzz_dist --count $(TERMS) --seed $(SEED)
	target/release/examples/fuzz_beam --dir "$$(tools/find-otp)" --count $(BEAMS) --seed $(SEED)
	target/release/examples/fuzz_loader --dir "$$(tools/find-otp)" --count $$(( $(BEAMS) / 20 )) --seed $(SEED)

models:
	HEDDLE_MODEL_OPERATIONS=$(OPERATIONS) cargo test --release -p heddle-term -p heddle-ets -p heddle-runtime --lib model_tests -- --nocapture
	HEDDLE_MODEL_OPERATIONS=$(OPERATIONS) cargo test --release -p heddle-bifs -p heddle-runtime -p heddle-engine --test 'model_*' -- --nocapture

same-code:
	$(RUN) tests/same-code

sequences: build
	$(RUN) tests/differential/sequences/run --erl $(ERL) --seconds $(SECONDS) --seed $(SEED)

differential: build
	$(RUN) tests/differential/run --erl $(ERL) --seconds $(SECONDS) --seed $(SEED)

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# OTP's own suites: WHAT="stdlib kernel:file_SUITE" limits it; see tests/conformance/run --help
conformance: build
	$(RUN) tests/conformance/run --erl $(ERL) --jobs $(JOBS) $(WHAT)
