// Package web is the page that the server shows in a browser: ask, watch the
// answer stream, click a citation and see its passage inside the document.
//
// In: a request for the page or one of its files.
//
// Out: [Handler], an http.Handler of plain HTML, CSS and JavaScript modules,
// embedded as they are written in static/: nothing is built.
//
// Never: calls the API itself (the page does, by paths relative to its own
// address, so it works under any prefix), asks another host for anything, or
// puts text of a document anywhere but into text nodes. The
// Content-Security-Policy holds browsers to all three.
//
// The API is described in docs/http-api.md, the page in docs/web.md;
// browsertest drives it in Chromium.
package web
