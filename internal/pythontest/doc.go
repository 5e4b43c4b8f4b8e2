// Package pythontest runs Python programs for tests.
//
// In: an [Environment] that `make` has installed, and the name of a program in it.
//
// Out: a command to run to its end, or a [Process] that serves meanwhile.
//
// Never: installs anything, skips a test, or leaves a process behind, however the
// test binary ends.
package pythontest
