// Package retriever keeps documents with their vectors and finds passages.
//
// In: [Document]s with a vector for the whole and one for each chunk; a [Query]
// with a vector, words, or both.
//
// Out: ranked [Hit]s, each a passage with its byte range in the text and in the
// file, every partial score, and the rule that combined them.
//
// Never: embeds text, builds prompts, mixes the vectors of two models, or
// returns fewer hits than asked because a filter ran after the cut.
//
// [Store] is the contract of a place that keeps documents; retriever/local and
// retriever/qdrant implement it and retriever/storetest checks them alike.
// [Search] ranks what a store finds, the same way for every store.
package retriever
