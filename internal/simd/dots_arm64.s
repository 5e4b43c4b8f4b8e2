#include "textflag.h"

// SDOT Vd.4S, Vn.16B, Vm.16B, which the assembler does not know: each 32-bit
// part of Vd gains the product of four bytes.
#define SDOT(m, n, d) WORD $(0x4E809400 | (m)<<16 | (n)<<5 | (d))

// func dotsNEON(dst *int32, rows, pair *int8, stride, n int)
//
// V16 and V17 hold the sums of a row with the two vectors, V18 and V19 those of
// every other 16 bytes, so that no instruction waits for the one before.
TEXT ·dotsNEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD pair+16(FP), R2
	MOVD stride+24(FP), R3
	MOVD n+32(FP), R4

row:
	MOVD R2, R5
	ADD R3, R2, R6
	MOVD R3, R7
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16

part:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(R5), [V4.B16, V5.B16, V6.B16, V7.B16]
	VLD1.P 64(R6), [V20.B16, V21.B16, V22.B16, V23.B16]
	SDOT(4, 0, 16)
	SDOT(20, 0, 17)
	SDOT(5, 1, 18)
	SDOT(21, 1, 19)
	SDOT(6, 2, 16)
	SDOT(22, 2, 17)
	SDOT(7, 3, 18)
	SDOT(23, 3, 19)
	SUBS $64, R7, R7
	BNE part

	VADD V18.S4, V16.S4, V16.S4
	VADD V19.S4, V17.S4, V17.S4
	VADDV V16.S4, V16
	VADDV V17.S4, V17
	FMOVS F16, (R0)
	FMOVS F17, 4(R0)
	ADD $8, R0, R0
	SUBS $1, R4, R4
	BNE row
	RET
