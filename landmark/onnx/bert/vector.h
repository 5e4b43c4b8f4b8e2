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

// x times the normal distribution's share below x, to 3e-5: the share is 1/(1+2^-g) with g a polynomial
// that was fitted for the largest error, and goes on as a line beyond 6, where the share is 0 or 1.
INLINE VECTOR __m512 gelu_16(__m512 x) {
	__m512 t = _mm512_min_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(36));
	__m512 g = _mm512_fmadd_ps(t, _mm512_set1_ps(1.01427973e-3f), _mm512_set1_ps(-1.06775832e-1f));
	g = _mm512_fmadd_ps(t, g, _mm512_set1_ps(-2.30112121f));
	__m512 e = exp2_16(_mm512_mul_ps(x, g));
	return _mm512_mul_ps(x, _mm512_rcp14_ps(_mm512_add_ps(e, _mm512_set1_ps(1))));
}

// A row in 8 bits: a value is least + step times its byte.
typedef struct {
	float step, least;
} scale8;

INLINE VECTOR scale8 quantise_row(const float *x, int n, __m512 low, __m512 high, uint8_t *out) {
	float least = _mm512_reduce_min_ps(low), most = _mm512_reduce_max_ps(high);
	float step = (most - least) / 255;
	__m512 inverse = _mm512_set1_ps(step > 0 ? 1 / step : 0);
	__m512 shift = _mm512_mul_ps(_mm512_set1_ps(-least), inverse);
	for (int i = 0; i < n; i += 16) {
		__m512i v = _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_loadu_ps(x + i), inverse, shift));
		_mm_storeu_si128((__m128i *)(out + i), _mm512_cvtusepi32_epi8(_mm512_max_epi32(v, _mm512_setzero_si512())));
	}
	return (scale8){step, least};
}

INLINE VECTOR scale8 quantise_range(const float *x, int n, uint8_t *out) {
	__m512 low = _mm512_loadu_ps(x), high = low;
	for (int i = 16; i < n; i += 16) {
		__m512 v = _mm512_loadu_ps(x + i);
		low = _mm512_min_ps(low, v);
		high = _mm512_max_ps(high, v);
	}
	return quantise_row(x, n, low, high, out);
}

// The layer norm of a row, in place, and the row in 8 bits.
INLINE VECTOR scale8 norm_row(float *x, int n, const float *weight, const float *shift, float epsilon, uint8_t *out) {
	__m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
	for (int i = 0; i < n; i += 16) sum = _mm512_add_ps(sum, _mm512_loadu_ps(x + i));
	float mean = _mm512_reduce_add_ps(sum) / n;
	__m512 m = _mm512_set1_ps(mean);
	for (int i = 0; i < n; i += 16) {
		__m512 d = _mm512_sub_ps(_mm512_loadu_ps(x + i), m);
		squares = _mm512_fmadd_ps(d, d, squares);
	}
	__m512 by = _mm512_set1_ps(1 / __builtin_sqrtf(_mm512_reduce_add_ps(squares) / n + epsilon));
	__m512 low = _mm512_set1_ps(__builtin_inff()), high = _mm512_set1_ps(-__builtin_inff());
	for (int i = 0; i < n; i += 16) {
		__m512 v = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(x + i), m), by);
		v = _mm512_fmadd_ps(v, _mm512_loadu_ps(weight + i), _mm512_loadu_ps(shift + i));
		_mm512_storeu_ps(x + i, v);
		low = _mm512_min_ps(low, v);
		high = _mm512_max_ps(high, v);
	}
	return quantise_row(x, n, low, high, out);
}

#endif
