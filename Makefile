# make demo   index the handbook under examples/ and ask it questions
# make test   all tests
# The rest is for working on Waymark; see CONTRIBUTING.md.

LIB := $(CURDIR)/.deps/lib

# What the go command and the tests need to use the native libraries.
native := CGO_LDFLAGS=-L$(LIB) WAYMARK_ONNXRUNTIME=$(LIB)/libonnxruntime.so

# Packages without native code, for the race detector.
pure = $(shell go list ./... | grep -v -e /landmark/onnx -e /cmd/ -e /examples/ -e /internal/tools/)

.PHONY: demo test build deps qdrant browser llm clients env race lint fuzz bench bench-peers eval-check

demo: build
	@scripts/demo.sh

test: deps qdrant
	go build ./...
	$(native) go test -tags onnx -timeout 40m ./...

build: deps
	CGO_LDFLAGS=-L$(LIB) go build -tags onnx -o bin/waymark ./cmd/waymark
	ln -f $(LIB)/libonnxruntime.so bin/libonnxruntime.so || cp -f $(LIB)/libonnxruntime.so bin/

# ONNX Runtime and the tokenizers library, fetched and built once into .deps/.
deps:
	@scripts/deps.sh

# Qdrant's engine, for the tests of whatever talks to a Qdrant, put into .deps/.
qdrant:
	@scripts/venv.sh qdrant internal/qdranttest/engine "180 MB"

# The tests of the web page, in Chromium.
browser: deps
	@scripts/browser.sh
	$(native) go test -count=1 -tags onnx,browser -timeout 20m ./server/web/browsertest

# The tests with a real language model, in llama.cpp's server, put into .deps/. They
# build the program, of which go test's cache knows nothing: -count=1.
llm: deps
	@scripts/venv.sh llm internal/llamatest/engine "220 MB" --no-deps
	$(native) go test -count=1 -tags onnx,llama -timeout 20m ./internal/llamatest

# The tests with clients of others, in Python, put into .deps/.
clients: deps
	@scripts/venv.sh clients internal/clienttest/engine "330 MB"
	$(native) go test -count=1 -tags onnx,clients -timeout 20m ./internal/clienttest

# `eval "$(make -s env)"` lets plain go commands use the native libraries.
env:
	@echo 'export CGO_LDFLAGS=-L$(LIB)'
	@echo 'export GOFLAGS=-tags=onnx'
	@echo 'export WAYMARK_ONNXRUNTIME=$(LIB)/libonnxruntime.so'

race: qdrant
	go test -race -timeout 30m $(pure)

lint: deps
	@scripts/lint.sh

# make fuzz FUZZTIME=5m runs every fuzz target for that long.
FUZZTIME ?= 20s
fuzz: deps
	@$(native) scripts/fuzz.sh $(FUZZTIME)

bench: deps
	$(native) go test -tags onnx -run '^$$' -bench . -benchmem ./chunker ./ingest ./landmark/onnx ./retriever/local

# make bench-peers PEERS='encode store pipeline' TEXTS=DIR measures beside others: docs/peers.md.
bench-peers: build
	@$(native) scripts/bench-peers.sh $(PEERS)

# make eval-check SETS='DIR DIR DIR' compares the metrics with trec_eval's.
eval-check: build
	@scripts/evalcheck.sh $(SETS)
