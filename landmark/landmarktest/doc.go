// Package landmarktest holds a fake model for tests and the contract suite for
// encoders.
//
// The fake works on words: a landmark's state is the sum of the fixed random
// vectors of its chunk's words with a little of the whole window mixed in. Texts
// that share words are therefore close, a test can read back from a vector which
// words made it ([Similarity]), and a vector that came from the wrong chunk, the
// wrong text or the wrong row of a batch shows.
package landmarktest
