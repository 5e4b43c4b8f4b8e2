// Package llamatest gives tests a real language model.
//
// In: a test that wants one.
//
// Out: the address of llama.cpp's own server with a model of 135 million parameters,
// which speaks OpenAI's protocol on a free port of the loopback interface, and what
// that server is doing. [Start] starts one for the test.
//
// Never: imitates a model, skips a test, or leaves a process behind, however the test
// binary ends.
//
// The tests of the package hold package llm and `waymark serve` to what docs/answers.md
// says, with that model. They have the build tag llama: `make llm` installs the server
// and runs them. What so small a model writes is often wrong; they hold what is true of
// every answer.
package llamatest
