// Package wire makes a ready pipeline out of a configuration. It is the only
// place that names every implementation.
//
// In: a configs.Config and what of the pipeline is needed.
//
// Out: a [Built], or a store alone, to be closed.
//
// Never: dials before what can be checked without is checked, decides what a
// setting means, or shows a secret.
package wire
