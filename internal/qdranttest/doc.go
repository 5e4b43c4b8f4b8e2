// Package qdranttest gives tests a real Qdrant.
//
// In: a test that wants one.
//
// Out: the address of an engine process: Qdrant's own segment engine behind the
// official gRPC protocol, on a free port of the loopback interface. [Shared] is
// one for the whole test binary, or the server that WAYMARK_TEST_QDRANT names;
// [Start] is one for a test that kills it or needs an API key or TLS.
//
// Never: imitates Qdrant, skips a test, or leaves a process behind, however the
// test binary ends.
//
// `make qdrant` installs the engine. docs/testing-qdrant.md says what it lacks
// beside a server.
package qdranttest
