// Package browsertest drives the web page in a real Chromium, headless: once
// against a server of its own that it can hold up and break, and once against
// `waymark serve`.
//
// Chromium and axe-core must be there: `make browser` sees to it. Without them the
// tests fail and say what to install; they are never skipped. With
// WAYMARK_TEST_SCREENSHOTS=DIR the screenshots stay in DIR.
package browsertest
