// Package wire makes a ready pipeline out of a configuration. It is the only
// place that names every implementation.
//
// In: a configs.Config and what of the pipeline is needed.
//
// Out: a [Built], to be closed.
//
// Never: holds logic worth a test of its own.
package wire
