// Package simd multiplies vectors of 8-bit integers with the instructions that
// the processor has.
//
// In: a pair of query vectors and rows that lie side by side in memory.
//
// Out: the products of each row with both, as 32-bit integers. All kernels give
// the same bits: AVX-512 VNNI, AVX2, NEON with dot products, and plain Go where
// there is none of these. The best is chosen when the program starts.
//
// Never: rounds, saturates, or reads behind the end of a row.
package simd
