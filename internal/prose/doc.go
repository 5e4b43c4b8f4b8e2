// Package prose splits running text into blocks, sentences and words, for
// quoting from it and for comparing two texts by what they say.
//
// In: any text, plain or Markdown, of any script.
//
// Out: byte ranges into that text, and for words a folded form under which
// "Dragons" and "dragon", or "1,000" and "1000", are the same.
//
// Never: changes the text, or promises that its blocks are those of a full
// Markdown parser. Folding and stop words are English; other languages are
// compared as written, and scripts without spaces by pairs of characters.
package prose
