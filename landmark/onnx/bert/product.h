// Products of rows of bytes with packed weights, in blocks of 32 rows and 32 columns.

#ifndef WAYMARK_PRODUCT_H
#define WAYMARK_PRODUCT_H

#include "vector.h"

// Compilers before GCC 11 and clang 12 do not know AMX; what they build stops at VNNI.
#if (defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11)
#define WITH_AMX 1
#else
#define WITH_AMX 0
#endif

#define AMX __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma,amx-tile,amx-int8,amx-bf16")))

enum { BLOCK = 32, PANEL = 16, STEP = 64 };

#if WITH_AMX

// The shape of all eight tiles: 16 rows of 64 bytes.
INLINE AMX void tiles_begin(void) {
	static const struct {
		uint8_t palette, start;
		uint8_t reserved[14];
		uint16_t bytes[16];
		uint8_t rows[16];
	} __attribute__((aligned(64))) shape = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
	_tile_loadconfig(&shape);
}

INLINE AMX void tiles_end(void) { _tile_release(); }

// written makes the compiler store what tiles are about to be loaded from, which it does not know of.
INLINE void written(void) { __asm__ volatile("" ::: "memory"); }

// product_amx multiplies 32 rows, stride bytes apart, with two panels.
INLINE AMX void product_amx(const uint8_t *rows, long stride, const int8_t *panels, int inner, int32_t *out) {
	const int8_t *second = panels + (long)inner * PANEL;
	written();
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (int k = 0; k < inner; k += STEP) {
		_tile_loadd(4, rows + k, stride);
		_tile_loadd(6, panels + (long)k * PANEL, 64);
		_tile_dpbusd(0, 4, 6);
		_tile_loadd(7, second + (long)k * PANEL, 64);
		_tile_dpbusd(1, 4, 7);
		_tile_loadd(5, rows + 16 * stride + k, stride);
		_tile_dpbusd(2, 5, 6);
		_tile_dpbusd(3, 5, 7);
	}
	_tile_stored(0, out, BLOCK * 4);
	_tile_stored(1, out + 16, BLOCK * 4);
	_tile_stored(2, out + 16 * BLOCK, BLOCK * 4);
	_tile_stored(3, out + 16 * BLOCK + 16, BLOCK * 4);
}

#endif

// product_vnni multiplies 32 rows, stride bytes apart, with two panels, eight rows at a time.
INLINE VECTOR void product_vnni(const uint8_t *rows, long stride, const int8_t *panels, int inner, int32_t *out) {
	const int8_t *second = panels + (long)inner * PANEL;
	for (int r = 0; r < BLOCK; r += 8) {
		__m512i left[8], right[8];
		for (int i = 0; i < 8; i++) left[i] = right[i] = _mm512_setzero_si512();
		const uint8_t *row = rows + r * stride;
		for (int k = 0; k < inner; k += 4) {
			__m512i a = _mm512_loadu_si512(panels + (long)k * PANEL), b = _mm512_loadu_si512(second + (long)k * PANEL);
#pragma GCC unroll 8
			for (int i = 0; i < 8; i++) {
				__m512i x = _mm512_set1_epi32(*(const int32_t *)(row + i * stride + k));
				left[i] = _mm512_dpbusd_epi32(left[i], x, a);
				right[i] = _mm512_dpbusd_epi32(right[i], x, b);
			}
		}
		for (int i = 0; i < 8; i++) {
			_mm512_storeu_si512(out + (r + i) * BLOCK, left[i]);
			_mm512_storeu_si512(out + (r + i) * BLOCK + 16, right[i]);
		}
	}
}

// The columns of a product that a vector of results belongs to.
typedef struct {
	__m512 scale, sum, bias;
} columns16;

INLINE VECTOR columns16 columns_at(const bert_product *p, int column) {
	return (columns16){_mm512_load_ps(p->scale + column), _mm512_load_ps(p->sum + column), _mm512_load_ps(p->bias + column)};
}

// Numbers from the sums of bytes.
INLINE VECTOR __m512 real_16(const int32_t *sums, scale8 row, columns16 c) {
	__m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums)), _mm512_set1_ps(row.step));
	return _mm512_fmadd_ps(v, c.scale, _mm512_fmadd_ps(_mm512_set1_ps(row.least), c.sum, c.bias));
}

#endif
