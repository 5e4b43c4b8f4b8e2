// Package qdrant keeps documents in a collection of a Qdrant server.
//
// In: the calls of a retriever.Store, and the address of a server.
//
// Out: the same answers as any other store gives (retriever/storetest), from a
// collection that several processes may read and write at once.
//
// Never: shows half of a document, or keeps vectors that another model made
// beside those of the collection's own. Whoever knows the address can read the
// collection with any client: docs/qdrant.md describes its layout.
package qdrant
