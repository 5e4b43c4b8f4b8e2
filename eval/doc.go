// Package eval measures retrieval and answers on sets of questions whose right
// documents, and perhaps passages and answers, are known.
//
// In: a [Set], read from a BEIR folder, and a [System] that ranks it; or a run and
// judgements in TREC's formats, whoever made them.
//
// Out: a [Result], with a value of every metric for every question, written as
// files that a change shows in as a diff; means with intervals, differences with
// their significance, by answer position and document length; reports.
//
// Never: runs in a production path, downloads, or leaves a question out without
// saying so.
//
// An [Index] makes systems of a store: the same store ranks by chunk, by document,
// by both and by words, and its neighbouring landmarks averaged are the index of
// coarser chunks. docs/eval.md is the manual, docs/results.md what came out.
package eval
