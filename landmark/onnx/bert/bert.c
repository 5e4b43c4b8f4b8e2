//go:build cgo && onnx && amd64 && linux

#include "bert.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vector.h"

enum {
	ROWS = 64,  // rows that go through a layer's second half together, so that they stay in the nearest caches
	SPLIT = 16, // split channels
};

// The score of a key that is not there: its power of two is 0.
static const float NEVER = -1e30f;

// Rows of states, with their values in 8 bits. The count is a multiple of BLOCK.
typedef struct {
	float *states;
	uint8_t *bytes;
	scale8 *scales;
	int count;
} bert_rows;

struct bert_scratch {
	bert_rows rows, picked;
	void *query, *keyvalue;       // as attention takes them
	void *keys;                   // of one head of one sequence
	uint16_t *values;
	float *scores;
	float *mixed;                // what attention gives
	float *hidden, *high, *split;
	uint8_t *hidden_bytes;
	int32_t *block;
	void *memory;
};

#include "product.h"

#include "attention_vnni.h"

#if WITH_AMX
#include "attention_amx.h"
#endif

// split_rows gives the split channels of each row.
INLINE VECTOR void split_rows(const float *states, int width, int count, const float *up, const float *bias, float *out) {
	for (int r = 0; r < count; r += 8) {
		__m512 sum[8];
		for (int i = 0; i < 8; i++) sum[i] = _mm512_load_ps(bias);
		for (int k = 0; k < width; k++) {
			__m512 w = _mm512_load_ps(up + k * SPLIT);
#pragma GCC unroll 8
			for (int i = 0; i < 8; i++) sum[i] = _mm512_fmadd_ps(_mm512_set1_ps(states[(long)(r + i) * width + k]), w, sum[i]);
		}
		for (int i = 0; i < 8; i++) _mm512_store_ps(out + (r + i) * SPLIT, gelu_16(sum[i]));
	}
}

#define HALVES 0
#define TARGET VECTOR
#define KERNEL(name) name##_vnni
#define BEGIN()
#define END()
#include "layer.h"
#undef HALVES
#undef TARGET
#undef KERNEL
#undef BEGIN
#undef END

#if WITH_AMX
#define HALVES 1
#define TARGET AMX
#define KERNEL(name) name##_amx
#define BEGIN tiles_begin
#define END tiles_end
#include "layer.h"
#endif

int bert_level(void) {
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
		!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512vnni"))
		return BERT_NONE;
#if WITH_AMX
	unsigned a = 7, b, c = 0, d;
	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	const unsigned tiles = 1u << 24 | 1u << 25 | 1u << 22; // AMX-TILE, AMX-INT8, AMX-BF16
	if ((d & tiles) != tiles || !__builtin_cpu_supports("avx512bf16")) return BERT_VNNI;
	// Linux hands out the tiles' registers on request.
	const int request = 0x1023, tile_data = 18;
	return syscall(SYS_arch_prctl, request, tile_data) == 0 ? BERT_AMX : BERT_VNNI;
#else
	return BERT_VNNI;
#endif
}

// An arena hands out pieces of one allocation. Without memory it counts what is needed.
typedef struct {
	char *at;
	size_t used;
} arena;

static void *take(arena *a, size_t size) {
	const size_t from = a->used;
	a->used += (size + 63) / 64 * 64;
	return a->at ? a->at + from : NULL;
}

// reserve gets the memory that was counted, all zero, to be handed out from its start. It returns 0 if there is none.
static int reserve(arena *a) {
	a->at = aligned_alloc(64, a->used);
	if (a->at) memset(a->at, 0, a->used);
	a->used = 0;
	return a->at != NULL;
}

static int up_to(int n, int step) { return (n + step - 1) / step * step; }

static bert_product take_product(arena *a, int inner, int outer) {
	bert_product p = {.inner = inner, .outer = outer};
	p.weights = take(a, (size_t)inner * outer);
	p.scale = take(a, sizeof(float) * outer);
	p.sum = take(a, sizeof(float) * outer);
	p.bias = take(a, sizeof(float) * outer);
	return p;
}

static void take_model(arena *a, bert_model *m) {
	const int width = m->shape.width, hidden = up_to(m->shape.hidden, STEP);
	const size_t row = sizeof(float) * width;
	m->layers = take(a, sizeof(bert_layer) * m->shape.layers);
	m->positions = take(a, row * m->shape.positions);
	m->norm = take(a, row);
	m->shift = take(a, row);
	for (int i = 0; i < m->shape.layers; i++) {
		bert_layer l = {
			.query = take_product(a, width, width),
			.keyvalue = take_product(a, width, 2 * width),
			.output = take_product(a, width, width),
			.up = take_product(a, width, hidden),
			.down = take_product(a, hidden, width),
		};
		l.attention_divisors = take(a, row);
		l.attention_norm = take(a, row);
		l.attention_shift = take(a, row);
		l.divisors = take(a, row);
		l.norm = take(a, row);
		l.shift = take(a, row);
		l.split_up = take(a, row * m->shape.split);
		l.split_bias = take(a, sizeof(float) * m->shape.split);
		l.split_down = take(a, row * m->shape.split);
		if (a->at) m->layers[i] = l;
	}
}

bert_model *bert_new(bert_shape shape) {
	bert_model *m = calloc(1, sizeof *m);
	if (!m) return NULL;
	m->shape = shape;
	arena a = {0};
	take_model(&a, m);
	if (!reserve(&a)) {
		free(m);
		return NULL;
	}
	m->memory = a.at;
	take_model(&a, m);
	return m;
}

void bert_free(bert_model *m) {
	free(m->memory);
	free(m);
}

void bert_pack(bert_product *p, int first, int inner, int outer, const int8_t *weights, const float *scale, const float *bias, float factor) {
	for (int n = 0; n < outer; n++) {
		const int column = first + n;
		int8_t *panel = p->weights + (long)(column / PANEL) * p->inner * PANEL + column % PANEL * 4;
		int32_t sum = 0;
		for (int k = 0; k < inner; k++) {
			const int8_t w = weights[(long)k * outer + n];
			panel[(k / 4) * PANEL * 4 + k % 4] = w;
			sum += w;
		}
		p->scale[column] = scale[n] * factor;
		p->sum[column] = (float)sum * scale[n] * factor;
		p->bias[column] = bias[n] * factor;
	}
}

static bert_rows take_rows(arena *a, int rows, int width) {
	return (bert_rows){
		.states = take(a, sizeof(float) * rows * width),
		.bytes = take(a, (size_t)rows * width),
		.scales = take(a, sizeof(scale8) * rows),
	};
}

static void take_scratch(arena *a, bert_scratch *s, bert_shape shape, int rows, int longest) {
	const int width = shape.width, size = width / shape.heads, hidden = up_to(shape.hidden, STEP);
	// Blocks of queries and keys may reach beyond the last row.
	const size_t all = up_to(rows, BLOCK) + BLOCK, keys = up_to(longest, 32) + 32;
	s->rows = take_rows(a, all, width);
	s->picked = take_rows(a, all, width);
	s->query = take(a, sizeof(float) * all * width);
	s->keyvalue = take(a, sizeof(float) * all * 2 * width);
	s->keys = take(a, sizeof(float) * keys * size);
	s->values = take(a, sizeof(uint16_t) * keys * size);
	s->scores = take(a, sizeof(float) * keys * TOGETHER);
	s->mixed = take(a, sizeof(float) * all * width);
	s->hidden = take(a, sizeof(float) * ROWS * hidden);
	s->high = take(a, sizeof(float) * ROWS * 16);
	s->split = take(a, sizeof(float) * ROWS * SPLIT);
	s->hidden_bytes = take(a, (size_t)ROWS * hidden);
	s->block = take(a, sizeof(int32_t) * ROWS * BLOCK);
}

bert_scratch *bert_scratch_new(const bert_model *m, int rows, int longest) {
	bert_scratch *s = calloc(1, sizeof *s);
	if (!s) return NULL;
	arena a = {0};
	take_scratch(&a, s, m->shape, rows, longest);
	if (!reserve(&a)) {
		free(s);
		return NULL;
	}
	s->memory = a.at;
	take_scratch(&a, s, m->shape, rows, longest);
	return s;
}

void bert_scratch_free(bert_scratch *s) {
	free(s->memory);
	free(s);
}

VECTOR void bert_embed(const bert_model *m, bert_scratch *s, bert_spans sequences, const int32_t *ids, const uint8_t *words, float scale, float zero) {
	const int width = m->shape.width;
	const bert_rows rows = s->rows;
	const __m512 by = _mm512_set1_ps(scale), shift = _mm512_set1_ps(-zero * scale);
	for (int i = 0; i < sequences.count; i++)
		for (int r = sequences.starts[i]; r < sequences.starts[i + 1]; r++) {
			float *state = rows.states + (long)r * width;
			const float *position = m->positions + (long)(r - sequences.starts[i]) * width;
			const uint8_t *word = words + (long)ids[r] * width;
			for (int k = 0; k < width; k += 16) {
				__m512 v = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(word + k))));
				_mm512_store_ps(state + k, _mm512_add_ps(_mm512_fmadd_ps(v, by, shift), _mm512_load_ps(position + k)));
			}
			rows.scales[r] = norm_row(state, width, m->norm, m->shift, m->shape.epsilon, rows.bytes + (long)r * width);
		}
	s->rows.count = up_to(sequences.starts[sequences.count], BLOCK);
}

static void run(int level, const bert_model *m, bert_scratch *s, int layer, bert_spans keys, bert_spans queries, bert_rows asked) {
#if WITH_AMX
	if (level == BERT_AMX) {
		layer_amx(m, &m->layers[layer], s, keys, s->rows, queries, asked);
		return;
	}
#endif
	(void)level;
	layer_vnni(m, &m->layers[layer], s, keys, s->rows, queries, asked);
}

void bert_run(int level, const bert_model *m, bert_scratch *s, int layer, bert_spans sequences) {
	run(level, m, s, layer, sequences, sequences, s->rows);
}

void bert_last(int level, const bert_model *m, bert_scratch *s, bert_spans sequences, bert_spans spans, const int32_t *wanted, float *out) {
	const int width = m->shape.width, count = spans.starts[spans.count];
	for (int i = 0; i < count; i++) {
		const long from = wanted[i];
		memcpy(s->picked.states + (long)i * width, s->rows.states + from * width, sizeof(float) * width);
		memcpy(s->picked.bytes + (long)i * width, s->rows.bytes + from * width, width);
		s->picked.scales[i] = s->rows.scales[from];
	}
	s->picked.count = up_to(count, BLOCK);
	run(level, m, s, m->shape.layers - 1, sequences, spans, s->picked);
	memcpy(out, s->picked.states, sizeof(float) * (long)count * width);
}

#if WITH_AMX
static AMX void multiply_amx(const uint8_t *rows, const int8_t *panels, int inner, int times, int32_t *out) {
	tiles_begin();
	for (int i = 0; i < times; i++) product_amx(rows, inner, panels, inner, out);
	tiles_end();
}
#endif

static VECTOR void multiply_vnni(const uint8_t *rows, const int8_t *panels, int inner, int times, int32_t *out) {
	for (int i = 0; i < times; i++) product_vnni(rows, inner, panels, inner, out);
}

void bert_multiply(int level, const uint8_t *rows, const int8_t *panels, int inner, int times, int32_t *out) {
#if WITH_AMX
	if (level == BERT_AMX) {
		multiply_amx(rows, panels, inner, times, out);
		return;
	}
#endif
	(void)level;
	multiply_vnni(rows, panels, inner, times, out);
}
