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

// softmax_amx turns 16 rows of scores into shares that are not yet divided by their sums.
INLINE AMX void softmax_amx(const float *scores, long stride, int padded, uint16_t *shares, long share_stride, float *inverse) {
	for (int r = 0; r < 16; r++) {
		const float *row = scores + r * stride;
		uint16_t *out = shares + r * share_stride;
		__m512 m0 = _mm512_load_ps(row), m1 = _mm512_load_ps(row + 16);
		for (int k = 32; k < padded; k += 32) {
			m0 = _mm512_max_ps(m0, _mm512_load_ps(row + k));
			m1 = _mm512_max_ps(m1, _mm512_load_ps(row + k + 16));
		}
		__m512 most = _mm512_set1_ps(_mm512_reduce_max_ps(_mm512_max_ps(m0, m1)));
		__m512 s0 = _mm512_setzero_ps(), s1 = s0;
		for (int k = 0; k < padded; k += 32) {
			__m512 e0 = exp2_16(_mm512_sub_ps(_mm512_load_ps(row + k), most));
			__m512 e1 = exp2_16(_mm512_sub_ps(_mm512_load_ps(row + k + 16), most));
			s0 = _mm512_add_ps(s0, e0);
			s1 = _mm512_add_ps(s1, e1);
			_mm512_store_si512(out + k, (__m512i)_mm512_cvtne2ps_pbh(e1, e0));
		}
		inverse[r] = 1 / _mm512_reduce_add_ps(_mm512_add_ps(s0, s1));
	}
}

INLINE AMX void attention_amx(const bert_model *m, bert_scratch *s, bert_spans keys, bert_spans queries) {
	const int width = m->shape.width, size = width / m->shape.heads;
	const uint16_t *query = s->query, *keyvalue = s->keyvalue;
	for (int i = 0; i < keys.count; i++) {
		const int first = keys.starts[i], count = keys.starts[i + 1] - first, padded = (count + 31) / 32 * 32;
		const long stride = padded + 16, share_stride = padded + 32;
		for (int head = 0; head < m->shape.heads && queries.starts[i] < queries.starts[i + 1]; head++) {
			const uint16_t *own = keyvalue + (long)first * 2 * width + head * size;
			pack_keys_amx(own, 2 * width, padded, size, s->keys);
			pack_values_amx(own + width, 2 * width, count, size, s->values);
			written();
			for (int q = queries.starts[i]; q < queries.starts[i + 1]; q += 16) {
				const uint16_t *asked = query + (long)q * width + head * size;
				_tile_loadd(4, asked, width * 2);
				if (size == 64) _tile_loadd(5, asked + 32, width * 2);
				const uint16_t *tile = s->keys;
				for (int k = 0; k < padded; k += 32) {
					_tile_zero(0);
					_tile_zero(1);
					_tile_loadd(6, tile, 64);
					_tile_dpbf16ps(0, 4, 6);
					if (size == 64) {
						tile += 512;
						_tile_loadd(6, tile, 64);
						_tile_dpbf16ps(0, 5, 6);
					}
					tile += 512;
					_tile_loadd(7, tile, 64);
					_tile_dpbf16ps(1, 4, 7);
					if (size == 64) {
						tile += 512;
						_tile_loadd(7, tile, 64);
						_tile_dpbf16ps(1, 5, 7);
					}
					tile += 512;
					_tile_stored(0, s->scores + k, stride * 4);
					_tile_stored(1, s->scores + k + 16, stride * 4);
				}
				for (int r = 0; r < 16 && padded > count; r++)
					for (int k = count; k < padded; k++) s->scores[r * stride + k] = NEVER;
				float inverse[16];
				softmax_amx(s->scores, stride, padded, s->shares, share_stride, inverse);
				written();
				_tile_zero(0);
				_tile_zero(1);
				_tile_zero(2);
				_tile_zero(3);
				tile = s->values;
				for (int k = 0; k < padded; k += 32) {
					_tile_loadd(4, s->shares + k, share_stride * 2);
					_tile_loadd(6, tile, 64);
					_tile_dpbf16ps(0, 4, 6);
					_tile_loadd(7, tile + 512, 64);
					_tile_dpbf16ps(1, 4, 7);
					tile += 1024;
					if (size == 64) {
						_tile_loadd(6, tile, 64);
						_tile_dpbf16ps(2, 4, 6);
						_tile_loadd(7, tile + 512, 64);
						_tile_dpbf16ps(3, 4, 7);
						tile += 1024;
					}
				}
				float *sums = s->sums;
				_tile_stored(0, sums, size * 4);
				_tile_stored(1, sums + 16, size * 4);
				if (size == 64) {
					_tile_stored(2, sums + 32, size * 4);
					_tile_stored(3, sums + 48, size * 4);
				}
				const int rows = queries.starts[i + 1] - q < 16 ? queries.starts[i + 1] - q : 16;
				for (int r = 0; r < rows; r++) {
					float *out = s->mixed + (long)(q + r) * width + head * size;
					for (int d = 0; d < size; d += 16)
						_mm512_storeu_ps(out + d, _mm512_mul_ps(_mm512_load_ps(sums + r * size + d), _mm512_set1_ps(inverse[r])));
				}
			}
		}
	}
}

#endif
