// The kernels of package bert: see doc.go for what they compute. Nothing here allocates after
// bert_new and bert_scratch_new, and nothing keeps a pointer that it is given.

#ifndef WAYMARK_BERT_H
#define WAYMARK_BERT_H

#include <stddef.h>
#include <stdint.h>

// What a processor can do, from none.
enum { BERT_NONE = 0, BERT_VNNI = 1, BERT_AMX = 2 };

// bert_level returns the best level of this processor, and asks the system for what AMX needs.
int bert_level(void);

typedef struct {
	int width;       // of the states: a multiple of 64
	int heads;       // of 32 or 64 numbers each
	int hidden;      // channels between up and down that are in 8 bits: any number
	int split;       // channels between up and down in floating point: 0 or 16
	int layers;
	int positions;   // rows of the table of positions
	float epsilon;   // of the layer norms
} bert_shape;

// A product of states with weights in 8 bits, in the form that the kernels read.
typedef struct {
	int inner, outer;      // padded to multiples of 64 and 32
	int8_t *weights;       // panels of 16 columns; in them blocks of 64 rows; in them 16 times 4 rows of 16 columns
	float *scale;          // of each column
	float *sum;            // of each column's weights, times its scale
	float *bias;
} bert_product;

typedef struct {
	bert_product query, keyvalue, output, up, down;
	float *attention_divisors, *attention_norm, *attention_shift;
	float *divisors, *norm, *shift;
	float *split_up, *split_bias, *split_down;
} bert_layer;

typedef struct {
	bert_shape shape;
	bert_layer *layers;
	float *positions, *norm, *shift;
	void *memory;
} bert_model;

// bert_new makes room for a model, all of it zero. It returns NULL without memory.
bert_model *bert_new(bert_shape shape);
void bert_free(bert_model *m);

// bert_pack fills columns of a product from weights that lie row by row, [inner][outer], with what each column is
// scaled by and a bias. Scales and biases are multiplied by factor.
void bert_pack(bert_product *p, int first, int inner, int outer, const int8_t *weights, const float *scale, const float *bias, float factor);

// What a call works in. It holds up to rows tokens in sequences of at most longest.
typedef struct bert_scratch bert_scratch;

bert_scratch *bert_scratch_new(const bert_model *m, int rows, int longest);
void bert_scratch_free(bert_scratch *s);

// Sequences that lie one behind the other: sequence i has the rows starts[i] to starts[i+1].
typedef struct {
	int count;
	const int32_t *starts;
} bert_spans;

// bert_embed reads the states of tokens from the table of words, in 8 bits with one scale and zero.
void bert_embed(const bert_model *m, bert_scratch *s, bert_spans sequences, const int32_t *ids, const uint8_t *words, float scale, float zero);

// bert_run puts the states through a layer.
void bert_run(int level, const bert_model *m, bert_scratch *s, int layer, bert_spans sequences);

// bert_last is bert_run for the last layer, of which only the states of some rows are wanted. Sequence i wants the
// rows wanted[spans.starts[i]] to wanted[spans.starts[i+1]]; their states go to out.
void bert_last(int level, const bert_model *m, bert_scratch *s, bert_spans sequences, bert_spans spans, const int32_t *wanted, float *out);

// bert_multiply gives the products of 32 rows of bytes with two panels of packed weights, so many times: for tests, and to
// measure what the level can do at most.
void bert_multiply(int level, const uint8_t *rows, const int8_t *panels, int inner, int times, int32_t *out);

#endif
