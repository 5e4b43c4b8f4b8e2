// Package clienttest has clients of others, unchanged, ask `waymark serve`: the Python
// client of OpenAI, and LlamaIndex's embeddings by TEI and by the OpenAI API.
//
// The test has the build tag clients: `make clients` installs them, pinned by hash, and
// runs it. Without them it fails and says what to run; it is never skipped. With
// WAYMARK_TEST_CLIENTS=DIR all that they got stays in DIR. docs/clients.md has the
// clients, and internal/clienttest/engine is where another one goes.
package clienttest
