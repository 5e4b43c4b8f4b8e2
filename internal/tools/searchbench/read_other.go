//go:build !amd64

package main

// readPart reads memory as fast as it can.
func readPart(b []byte) { readGo(b) }
