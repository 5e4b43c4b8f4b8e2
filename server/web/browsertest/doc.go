// Package browsertest drives the web page in a real Chromium, headless: once
// against a server of its own that it can hold up and break, and once against
// `waymark serve`.
//
// The tests have the build tag browser, since not every machine has a Chromium:
// `make browser` fetches axe-core, looks for Chromium and runs them. Without either
// they fail and say what to install; they are never skipped. With
// WAYMARK_TEST_SCREENSHOTS=DIR the screenshots stay in DIR.
package browsertest
