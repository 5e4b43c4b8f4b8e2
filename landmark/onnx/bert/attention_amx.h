// Attention with tiles of 16-bit floats. Queries are scaled so that the softmax is one of powers of two.

#ifndef WAYMARK_ATTENTION_AMX_H
#define WAYMARK_ATTENTION_AMX_H

#include "product.h"

// transpose_amx writes 16 rows of 16 pairs, stride pairs apart, as columns.
INLINE AMX void transpose_amx(const uint32_t *in, long stride, uint32_t *out) {
	__m512i a[16], b[16];
#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) a[i] = _mm512_loadu_si512(in + i * stride);
#pragma GCC unroll 8
	for (int i = 0; i < 16; i += 2) {
		b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
		b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
	}
#pragma GCC unroll 4
	for (int i = 0; i < 16; i += 4) {
		a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
		a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
		a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
		a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
	}
	// a[4g+c] has of rows 4g to 4g+3 the columns c, 4+c, 8+c, 12+c.
#pragma GCC unroll 4
	for (int c = 0; c < 4; c++) {
		__m512i low0 = _mm512_shuffle_i32x4(a[c], a[4 + c], 0x44), high0 = _mm512_shuffle_i32x4(a[c], a[4 + c], 0xee);
		__m512i low1 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0x44), high1 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0xee);
		_mm512_store_si512(out + c * 16, _mm512_shuffle_i32x4(low0, low1, 0x88));
		_mm512_store_si512(out + (4 + c) * 16, _mm512_shuffle_i32x4(low0, low1, 0xdd));
		_mm512_store_si512(out + (8 + c) * 16, _mm512_shuffle_i32x4(high0, high1, 0x88));
		_mm512_store_si512(out + (12 + c) * 16, _mm512_shuffle_i32x4(high0, high1, 0xdd));
	}
}

// pack_keys_amx lays out count keys of size numbers as tiles: 16 keys, 32 numbers each.
INLINE AMX void pack_keys_amx(const uint16_t *keys, long stride, int count, int size, uint16_t *out) {
	for (int k = 0; k < count; k += 16)
		for (int d = 0; d < size; d += 32, out += 512) transpose_amx((const uint32_t *)(keys + k * stride + d), stride / 2, (uint32_t *)out);
}

// pack_values_amx lays out values as tiles: 32 keys, 16 numbers each. What is behind the last key is zero.
INLINE AMX void pack_values_amx(const uint16_t *values, long stride, int count, int size, uint16_t *out) {
	static const uint16_t order[32] __attribute__((aligned(64))) = {0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39,
		8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
	__m512i left = _mm512_load_si512(order), right = _mm512_add_epi16(left, _mm512_set1_epi16(16));
	for (int k = 0; k < count; k += 32)
		for (int d = 0; d < size; d += 32, out += 1024)
			for (int pair = 0; pair < 16; pair++) {
				int row = k + 2 * pair;
				__m512i a = _mm512_setzero_si512(), b = a;
				if (row < count) a = _mm512_loadu_si512(values + row * stride + d);
				if (row + 1 < count) b = _mm512_loadu_si512(values + (row + 1) * stride + d);
				_mm512_store_si512(out + pair * 32, _mm512_permutex2var_epi16(a, left, b));
				_mm512_store_si512(out + 512 + pair * 32, _mm512_permutex2var_epi16(a, right, b));
			}
}

// halves_amx multiplies 32 rows of 16-bit floats, stride bytes apart, with two columns of steps packed tiles, each skip
// numbers behind the one before.
INLINE AMX void halves_amx(const uint16_t *rows, long stride, const uint16_t *left, const uint16_t *right, int steps, long skip, float *out, long out_stride) {
	written();
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (int k = 0; k < steps; k++) {
		_tile_loadd(4, rows + k * 32, stride);
		_tile_loadd(6, left + k * skip, 64);
		_tile_dpbf16ps(0, 4, 6);
		_tile_loadd(7, right + k * skip, 64);
		_tile_dpbf16ps(1, 4, 7);
		_tile_loadd(5, (const char *)(rows + k * 32) + 16 * stride, stride);
		_tile_dpbf16ps(2, 5, 6);
		_tile_dpbf16ps(3, 5, 7);
	}
	_tile_stored(0, out, out_stride);
	_tile_stored(1, out + 16, out_stride);
	_tile_stored(2, (char *)out + 16 * out_stride, out_stride);
	_tile_stored(3, (char *)(out + 16) + 16 * out_stride, out_stride);
}

enum {
	ASKED = 32,  // queries at a time
	SEEN = 256,  // keys at a time: their scores fit the nearest cache
};

// Of each query, while its keys are gone through: the largest score so far, the sums of the shares' columns and what
// the values add up to, both relative to that score.
typedef struct {
	float most[ASKED];
	float sums[ASKED * 16];
	float mixed[ASKED * 64];
	float scores[ASKED * SEEN];
	uint16_t shares[ASKED * SEEN];
	float products[ASKED * 32];
} __attribute__((aligned(64))) softmax;

// most_amx takes the largest score of a block into account, and gives what the shares of the blocks before are to be multiplied by.
INLINE AMX void most_amx(softmax *s, int padded, int first, float *factors) {
	float most[ASKED] __attribute__((aligned(64)));
	for (int r = 0; r < ASKED; r++) {
		const float *row = s->scores + r * SEEN;
		__m512 m0 = _mm512_load_ps(row), m1 = _mm512_load_ps(row + 16);
		for (int k = 32; k < padded; k += 32) {
			m0 = _mm512_max_ps(m0, _mm512_load_ps(row + k));
			m1 = _mm512_max_ps(m1, _mm512_load_ps(row + k + 16));
		}
		most[r] = _mm512_reduce_max_ps(_mm512_max_ps(m0, m1));
	}
	for (int r = 0; r < ASKED; r += 16) {
		__m512 now = _mm512_load_ps(most + r);
		if (!first) {
			const __m512 before = _mm512_load_ps(s->most + r);
			now = _mm512_max_ps(now, before);
			_mm512_store_ps(factors + r, exp2_16(_mm512_sub_ps(before, now)));
		}
		_mm512_store_ps(s->most + r, now);
	}
}

// share_amx turns a row of scores into shares, padded of them.
INLINE AMX void share_amx(softmax *s, int r, int padded, int first, float factor) {
	const float *row = s->scores + r * SEEN;
	const __m512 by = _mm512_set1_ps(s->most[r]);
	__m512 s0 = _mm512_setzero_ps(), s1 = s0;
	for (int k = 0; k < padded; k += 32) {
		const __m512 e0 = exp2_16(_mm512_sub_ps(_mm512_load_ps(row + k), by));
		const __m512 e1 = exp2_16(_mm512_sub_ps(_mm512_load_ps(row + k + 16), by));
		s0 = _mm512_add_ps(s0, e0);
		s1 = _mm512_add_ps(s1, e1);
		_mm512_store_si512(s->shares + r * SEEN + k, (__m512i)_mm512_cvtne2ps_pbh(e1, e0));
	}
	s0 = _mm512_add_ps(s0, s1);
	if (!first) s0 = _mm512_fmadd_ps(_mm512_load_ps(s->sums + r * 16), _mm512_set1_ps(factor), s0);
	_mm512_store_ps(s->sums + r * 16, s0);
}

// ask_amx gives what up to 32 queries see of packed keys and values.
INLINE AMX void ask_amx(softmax *s, const uint16_t *queries, long width, const uint16_t *keys, const uint16_t *values, int count, int size, int rows, float *out) {
	for (int from = 0; from < count; from += SEEN) {
		const int here = count - from < SEEN ? count - from : SEEN, padded = (here + 31) / 32 * 32;
		for (int k = 0; k < padded; k += 32) {
			const uint16_t *tiles = keys + (long)(from + k) * size;
			halves_amx(queries, width * 2, tiles, tiles + 16 * size, size / 32, 512, s->scores + k, SEEN * 4);
		}
		for (int r = 0; r < ASKED && here < padded; r++)
			for (int k = here; k < padded; k++) s->scores[r * SEEN + k] = NEVER;
		float factors[ASKED] __attribute__((aligned(64))) = {0};
		most_amx(s, padded, from == 0, factors);
		for (int r = 0; r < ASKED; r++) share_amx(s, r, padded, from == 0, factors[r]);
		for (int d = 0; d < size; d += 32) {
			const uint16_t *tiles = values + (long)from * size + d * 32;
			halves_amx(s->shares, SEEN * 2, tiles, tiles + 512, padded / 32, 32 * size, s->products, 128);
			for (int r = 0; r < rows; r++)
				for (int half = 0; half < 32; half += 16) {
					float *to = s->mixed + r * size + d + half;
					__m512 v = _mm512_load_ps(s->products + r * 32 + half);
					if (from > 0) v = _mm512_fmadd_ps(_mm512_load_ps(to), _mm512_set1_ps(factors[r]), v);
					_mm512_store_ps(to, v);
				}
		}
	}
	for (int r = 0; r < rows; r++) {
		const __m512 by = _mm512_set1_ps(1 / _mm512_reduce_add_ps(_mm512_load_ps(s->sums + r * 16)));
		for (int d = 0; d < size; d += 16) _mm512_store_ps(out + r * width + d, _mm512_mul_ps(_mm512_load_ps(s->mixed + r * size + d), by));
	}
}

INLINE AMX void attention_amx(const bert_model *m, bert_scratch *s, bert_spans keys, bert_spans queries) {
	const int width = m->shape.width, size = width / m->shape.heads;
	const uint16_t *query = s->query, *keyvalue = s->keyvalue;
	softmax state;
	for (int i = 0; i < keys.count; i++) {
		const int first = keys.starts[i], count = keys.starts[i + 1] - first, end = queries.starts[i + 1];
		for (int head = 0; head < m->shape.heads && queries.starts[i] < end; head++) {
			const uint16_t *own = keyvalue + (long)first * 2 * width + head * size;
			pack_keys_amx(own, 2 * width, (count + 31) / 32 * 32, size, s->keys);
			pack_values_amx(own + width, 2 * width, count, size, s->values);
			for (int q = queries.starts[i]; q < end; q += ASKED) {
				const long at = (long)q * width + head * size;
				ask_amx(&state, query + at, width, s->keys, s->values, count, size, end - q < ASKED ? end - q : ASKED, s->mixed + at);
			}
		}
	}
}

#endif
