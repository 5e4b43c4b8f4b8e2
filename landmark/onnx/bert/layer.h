// A layer, for the level that KERNEL, TARGET, HALVES, BEGIN and END say. This file is included once for each.

// A value as attention takes it: a number, or half of one.
INLINE TARGET void KERNEL(store)(void *to, long at, __m512 v) {
#if HALVES
	_mm256_storeu_si256((__m256i *)((uint16_t *)to + at), (__m256i)_mm512_cvtneps_pbh(v));
#else
	_mm512_storeu_ps((float *)to + at, v);
#endif
}

// project multiplies all rows with a product, for attention to take.
INLINE TARGET void KERNEL(project)(const bert_product *p, bert_rows rows, bert_scratch *s, void *out) {
	for (int b = 0; b < rows.count; b += ROWS)
		for (int column = 0; column < p->outer; column += BLOCK) {
			const columns16 left = columns_at(p, column), right = columns_at(p, column + 16);
			for (int r = b; r < rows.count && r < b + ROWS; r += BLOCK) {
				int32_t *sums = s->block + (r & BLOCK) * BLOCK;
				KERNEL(product)(rows.bytes + (long)r * p->inner, p->inner, p->weights + (long)column * p->inner, p->inner, sums);
				for (int i = 0; i < BLOCK; i++) {
					long at = (long)(r + i) * p->outer + column;
					KERNEL(store)(out, at, real_16(sums + i * BLOCK, rows.scales[r + i], left));
					KERNEL(store)(out, at + 16, real_16(sums + i * BLOCK + 16, rows.scales[r + i], right));
				}
			}
		}
}

// add multiplies count rows with a product and adds the result to the states, multiplied by divisors, and what the
// split channels give, if there are any.
INLINE TARGET void KERNEL(add)(const bert_product *p, const uint8_t *bytes, const scale8 *scales, int count, const float *divisors, float *states,
	const float *hidden, const float *split, int channels, bert_scratch *s) {
	for (int column = 0; column < p->outer; column += BLOCK)
		for (int half = 0; half < count; half += BLOCK) {
			int32_t *sums = s->block + half * BLOCK;
			KERNEL(product)(bytes + (long)half * p->inner, p->inner, p->weights + (long)column * p->inner, p->inner, sums);
			for (int c = 0; c < BLOCK; c += 16) {
				const columns16 of = columns_at(p, column + c);
				const __m512 by = _mm512_load_ps(divisors + column + c);
				__m512 w[SPLIT];
				for (int j = 0; j < channels; j++) w[j] = _mm512_load_ps(split + (long)j * p->outer + column + c);
				for (int i = 0; i < BLOCK; i++) {
					float *x = states + (long)(half + i) * p->outer + column + c;
					__m512 v = real_16(sums + i * BLOCK + c, scales[half + i], of);
					v = _mm512_fmadd_ps(_mm512_load_ps(x), by, v);
					for (int j = 0; j < channels; j++) v = _mm512_fmadd_ps(_mm512_set1_ps(hidden[(half + i) * SPLIT + j]), w[j], v);
					_mm512_store_ps(x, v);
				}
			}
		}
}

// up multiplies rows with the product up and applies GELU; the result is in bytes.
INLINE TARGET void KERNEL(up)(const bert_product *p, const uint8_t *bytes, const scale8 *scales, int count, bert_scratch *s, scale8 *out) {
	for (int column = 0; column < p->outer; column += BLOCK) {
		const columns16 left = columns_at(p, column), right = columns_at(p, column + 16);
		for (int half = 0; half < count; half += BLOCK) {
			int32_t *sums = s->block + half * BLOCK;
			KERNEL(product)(bytes + (long)half * p->inner, p->inner, p->weights + (long)column * p->inner, p->inner, sums);
			for (int i = 0; i < BLOCK; i++) {
				const int r = half + i;
				__m512 a = gelu_16(real_16(sums + i * BLOCK, scales[r], left));
				__m512 b = gelu_16(real_16(sums + i * BLOCK + 16, scales[r], right));
				_mm512_store_ps(s->hidden + (long)r * p->outer + column, a);
				_mm512_store_ps(s->hidden + (long)r * p->outer + column + 16, b);
				__m512 high = _mm512_max_ps(a, b);
				if (column > 0) high = _mm512_max_ps(high, _mm512_load_ps(s->high + r * 16));
				_mm512_store_ps(s->high + r * 16, high);
			}
		}
	}
	for (int r = 0; r < count; r++)
		out[r] = quantise_row(s->hidden + (long)r * p->outer, p->outer, LEAST_GELU, _mm512_reduce_max_ps(_mm512_load_ps(s->high + r * 16)),
			s->hidden_bytes + (long)r * p->outer);
}

// layer puts rows through what follows the projections. The rows asked for see the keys of their sequences.
static TARGET void KERNEL(layer)(const bert_model *m, const bert_layer *l, bert_scratch *s, bert_spans keys, bert_rows all, bert_spans queries, bert_rows asked) {
	const int width = m->shape.width, channels = m->shape.split;
	BEGIN();
	KERNEL(project)(&l->keyvalue, all, s, s->keyvalue);
	KERNEL(project)(&l->query, asked, s, s->query);
	KERNEL(attention)(m, s, keys, queries);
	for (int b = 0; b < asked.count; b += ROWS) {
		const int count = asked.count - b < ROWS ? asked.count - b : ROWS;
		float *states = asked.states + (long)b * width;
		uint8_t *bytes = asked.bytes + (long)b * width;
		scale8 *scales = asked.scales + b, hidden[ROWS];
		for (int r = 0; r < count; r++) scales[r] = quantise_range(s->mixed + (long)(b + r) * width, width, bytes + (long)r * width);
		KERNEL(add)(&l->output, bytes, scales, count, l->attention_divisors, states, NULL, NULL, 0, s);
		for (int r = 0; r < count; r++)
			scales[r] = norm_row(states + (long)r * width, width, l->attention_norm, l->attention_shift, m->shape.epsilon, bytes + (long)r * width);
		if (channels > 0) split_rows(states, width, count, l->split_up, l->split_bias, s->split);
		KERNEL(up)(&l->up, bytes, scales, count, s, hidden);
		if (channels > 0) // a constant number of them, so that their loop is unrolled
			KERNEL(add)(&l->down, s->hidden_bytes, hidden, count, l->divisors, states, s->split, l->split_down, SPLIT, s);
		else
			KERNEL(add)(&l->down, s->hidden_bytes, hidden, count, l->divisors, states, NULL, NULL, 0, s);
		for (int r = 0; r < count; r++)
			scales[r] = norm_row(states + (long)r * width, width, l->norm, l->shift, m->shape.epsilon, bytes + (long)r * width);
	}
	END();
}
