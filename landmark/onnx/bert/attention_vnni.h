// Attention with vectors of 32-bit floats. Queries are scaled so that the softmax is one of powers of two.

#ifndef WAYMARK_ATTENTION_VNNI_H
#define WAYMARK_ATTENTION_VNNI_H

#include "product.h"

enum { TOGETHER = 4 }; // queries at a time

// pack_keys_vnni writes keys as columns: numbers[d][k].
INLINE VECTOR void pack_keys_vnni(const float *keys, long stride, int count, int padded, int size, float *out) {
	for (int k = 0; k < padded; k++)
		for (int d = 0; d < size; d++) out[(long)d * padded + k] = k < count ? keys[k * stride + d] : 0;
}

INLINE VECTOR void softmax_vnni(float *row, int padded, float *inverse) {
	__m512 most = _mm512_load_ps(row), sum = _mm512_setzero_ps();
	for (int k = 16; k < padded; k += 16) most = _mm512_max_ps(most, _mm512_load_ps(row + k));
	most = _mm512_set1_ps(_mm512_reduce_max_ps(most));
	for (int k = 0; k < padded; k += 16) {
		__m512 e = exp2_16(_mm512_sub_ps(_mm512_load_ps(row + k), most));
		sum = _mm512_add_ps(sum, e);
		_mm512_store_ps(row + k, e);
	}
	*inverse = 1 / _mm512_reduce_add_ps(sum);
}

INLINE VECTOR void attention_vnni(const bert_model *m, bert_scratch *s, bert_spans keys, bert_spans queries) {
	const int width = m->shape.width, size = width / m->shape.heads;
	const float *query = s->query, *keyvalue = s->keyvalue;
	float *columns = s->keys;
	for (int i = 0; i < keys.count; i++) {
		const int first = keys.starts[i], count = keys.starts[i + 1] - first, padded = (count + 31) / 32 * 32;
		for (int head = 0; head < m->shape.heads && queries.starts[i] < queries.starts[i + 1]; head++) {
			const float *own = keyvalue + (long)first * 2 * width + head * size;
			pack_keys_vnni(own, 2 * width, count, padded, size, columns);
			for (int q = queries.starts[i]; q < queries.starts[i + 1]; q += TOGETHER) {
				const float *asked = query + (long)q * width + head * size;
				for (int k = 0; k < padded; k += 32) {
					__m512 sum[TOGETHER][2];
					for (int r = 0; r < TOGETHER; r++) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
					for (int d = 0; d < size; d++) {
						__m512 a = _mm512_load_ps(columns + (long)d * padded + k), b = _mm512_load_ps(columns + (long)d * padded + k + 16);
#pragma GCC unroll 4
						for (int r = 0; r < TOGETHER; r++) {
							__m512 x = _mm512_set1_ps(asked[(long)r * width + d]);
							sum[r][0] = _mm512_fmadd_ps(x, a, sum[r][0]);
							sum[r][1] = _mm512_fmadd_ps(x, b, sum[r][1]);
						}
					}
					for (int r = 0; r < TOGETHER; r++) {
						_mm512_store_ps(s->scores + (long)r * padded + k, sum[r][0]);
						_mm512_store_ps(s->scores + (long)r * padded + k + 16, sum[r][1]);
					}
				}
				float inverse[TOGETHER];
				for (int r = 0; r < TOGETHER; r++) {
					for (int k = count; k < padded; k++) s->scores[(long)r * padded + k] = NEVER;
					softmax_vnni(s->scores + (long)r * padded, padded, &inverse[r]);
				}
				const int rows = queries.starts[i + 1] - q < TOGETHER ? queries.starts[i + 1] - q : TOGETHER;
				for (int d = 0; d < size; d += 32) {
					__m512 sum[TOGETHER][2];
					for (int r = 0; r < TOGETHER; r++) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
					const float *values = own + width + d;
					for (int k = 0; k < count; k++) {
						__m512 a = _mm512_loadu_ps(values + (long)k * 2 * width), b = _mm512_loadu_ps(values + (long)k * 2 * width + 16);
#pragma GCC unroll 4
						for (int r = 0; r < TOGETHER; r++) {
							__m512 x = _mm512_set1_ps(s->scores[(long)r * padded + k]);
							sum[r][0] = _mm512_fmadd_ps(x, a, sum[r][0]);
							sum[r][1] = _mm512_fmadd_ps(x, b, sum[r][1]);
						}
					}
					for (int r = 0; r < rows; r++) {
						float *out = s->mixed + (long)(q + r) * width + head * size + d;
						_mm512_storeu_ps(out, _mm512_mul_ps(sum[r][0], _mm512_set1_ps(inverse[r])));
						_mm512_storeu_ps(out + 16, _mm512_mul_ps(sum[r][1], _mm512_set1_ps(inverse[r])));
					}
				}
			}
		}
	}
}

#endif
