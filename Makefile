# `make build` gives ./bin/waymark. `make env` prints what plain go commands need:
# eval "$(make -s env)".

LIB := $(CURDIR)/.deps/lib

.PHONY: build deps env

build: deps
	CGO_LDFLAGS=-L$(LIB) go build -tags onnx -o bin/waymark ./cmd/waymark
	ln -f $(LIB)/libonnxruntime.so bin/libonnxruntime.so || cp -f $(LIB)/libonnxruntime.so bin/

# ONNX Runtime and the tokenizers library, fetched and built once into .deps/.
deps:
	@scripts/deps.sh

env:
	@echo 'export CGO_LDFLAGS=-L$(LIB)'
	@echo 'export GOFLAGS=-tags=onnx'
	@echo 'export WAYMARK_ONNXRUNTIME=$(LIB)/libonnxruntime.so'
