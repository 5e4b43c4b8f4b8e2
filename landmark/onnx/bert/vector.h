// Functions of vectors of 16 floats, and of rows of them.

#ifndef WAYMARK_VECTOR_H
#define WAYMARK_VECTOR_H

#include <immintrin.h>
#include <stdint.h>

#define VECTOR __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")))
#define INLINE static inline __attribute__((always_inline))

// 2^x to a part in 10^4: a cubic for the fraction.
INLINE VECTOR __m512 exp2_16(__m512 x) {
	__m512 f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
	__m512 p = _mm512_fmadd_ps(f, _mm512_set1_ps(0.07802449f), _mm512_set1_ps(0.22606721f));
	p = _mm512_fmadd_ps(f, p, _mm512_set1_ps(0.69583352f));
	p = _mm512_fmadd_ps(f, p, _mm512_set1_ps(0.99992522f));
	return _mm512_scalef_ps(p, x);
}

// x times the normal distribution's share below x, to 2e-4: the share is a half and an odd polynomial, fitted for
// the least largest error, that reaches 0 and 1 at the limits.
static const float LEAST_GELU = -0.1705f; // no value of gelu_16 is less
INLINE VECTOR __m512 gelu_16(__m512 x) {
	static const float c[] = {3.985649049e-1f, -6.537094712e-2f, 9.101515636e-3f, -8.780894568e-4f, 5.434490231e-5f, -1.914137329e-6f, 2.889486146e-8f};
	const __m512 limit = _mm512_set1_ps(3.9f);
	__m512 t = _mm512_max_ps(_mm512_min_ps(x, limit), _mm512_sub_ps(_mm512_setzero_ps(), limit));
	__m512 u = _mm512_mul_ps(t, t), p = _mm512_set1_ps(c[6]);
#pragma GCC unroll 6
	for (int i = 5; i >= 0; i--) p = _mm512_fmadd_ps(p, u, _mm512_set1_ps(c[i]));
	return _mm512_mul_ps(x, _mm512_fmadd_ps(p, t, _mm512_set1_ps(0.5f)));
}

// A row in 8 bits: a value is least + step times its byte.
typedef struct {
	float step, least;
} scale8;

// The numbers of a row are a multiple of 64: four vectors go side by side, so that none waits for the one before.
#define EACH4 _Pragma("GCC unroll 4") for (int j = 0; j < 4; j++)

INLINE VECTOR float sum_4(const __m512 *v) { return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(v[0], v[1]), _mm512_add_ps(v[2], v[3]))); }
INLINE VECTOR float min_4(const __m512 *v) { return _mm512_reduce_min_ps(_mm512_min_ps(_mm512_min_ps(v[0], v[1]), _mm512_min_ps(v[2], v[3]))); }
INLINE VECTOR float max_4(const __m512 *v) { return _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(v[0], v[1]), _mm512_max_ps(v[2], v[3]))); }

// quantise_row brings a row that lies between two numbers to 8 bits.
INLINE VECTOR scale8 quantise_row(const float *x, int n, float least, float most, uint8_t *out) {
	const float step = (most - least) / 255, inverse = step > 0 ? 1 / step : 0;
	const __m512 by = _mm512_set1_ps(inverse), shift = _mm512_set1_ps(-least * inverse);
	// Packing works within each quarter of a vector.
	const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
	for (int i = 0; i < n; i += 64) {
		__m512i v[4];
		EACH4 v[j] = _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_load_ps(x + i + 16 * j), by, shift));
		__m512i bytes = _mm512_packus_epi16(_mm512_packus_epi32(v[0], v[1]), _mm512_packus_epi32(v[2], v[3]));
		_mm512_store_si512(out + i, _mm512_permutexvar_epi32(order, bytes));
	}
	return (scale8){step, least};
}

INLINE VECTOR scale8 quantise_range(const float *x, int n, uint8_t *out) {
	__m512 low[4], high[4];
	EACH4 low[j] = high[j] = _mm512_load_ps(x + 16 * j);
	for (int i = 64; i < n; i += 64) EACH4 {
		const __m512 v = _mm512_load_ps(x + i + 16 * j);
		low[j] = _mm512_min_ps(low[j], v);
		high[j] = _mm512_max_ps(high[j], v);
	}
	return quantise_row(x, n, min_4(low), max_4(high), out);
}

// The layer norm of a row, in place, and the row in 8 bits.
INLINE VECTOR scale8 norm_row(float *x, int n, const float *weight, const float *shift, float epsilon, uint8_t *out) {
	__m512 sum[4], squares[4], low[4], high[4];
	EACH4 sum[j] = squares[j] = _mm512_setzero_ps();
	for (int i = 0; i < n; i += 64) EACH4 sum[j] = _mm512_add_ps(sum[j], _mm512_load_ps(x + i + 16 * j));
	const __m512 mean = _mm512_set1_ps(sum_4(sum) / n);
	for (int i = 0; i < n; i += 64) EACH4 {
		const __m512 d = _mm512_sub_ps(_mm512_load_ps(x + i + 16 * j), mean);
		squares[j] = _mm512_fmadd_ps(d, d, squares[j]);
	}
	const __m512 by = _mm512_set1_ps(1 / __builtin_sqrtf(sum_4(squares) / n + epsilon));
	EACH4 low[j] = _mm512_set1_ps(__builtin_inff()), high[j] = _mm512_set1_ps(-__builtin_inff());
	for (int i = 0; i < n; i += 64) EACH4 {
		const int k = i + 16 * j;
		__m512 v = _mm512_mul_ps(_mm512_sub_ps(_mm512_load_ps(x + k), mean), by);
		v = _mm512_fmadd_ps(v, _mm512_load_ps(weight + k), _mm512_load_ps(shift + k));
		_mm512_store_ps(x + k, v);
		low[j] = _mm512_min_ps(low[j], v);
		high[j] = _mm512_max_ps(high[j], v);
	}
	return quantise_row(x, n, min_4(low), max_4(high), out);
}

#endif
