//go:build cgo && onnx

package main

import "testing"

func TestNativeScripts(t *testing.T) { runScripts(t, "testdata/native") }
