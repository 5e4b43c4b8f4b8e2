#include "textflag.h"

// Both kernels go over two rows at a time, so that each part of the pair is
// loaded once for them, and an odd last row counts as both of the two. Four sums
// are kept: of row and vector 0 0, 0 1, 1 0 and 1 1, in this order in memory.

// VPDPBUSD multiplies unsigned with signed bytes. Flipping the sign bit of a row
// adds 128 to each of its numbers, which the bias takes away again.

// func dotsVNNI(dst *int32, rows, pair *int8, bias *[2]int32, stride, n int)
TEXT ·dotsVNNI(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ pair+16(FP), DX
	MOVQ bias+24(FP), AX
	MOVQ stride+32(FP), CX
	MOVQ n+40(FP), BX
	MOVL $0x80808080, R8
	VPBROADCASTD R8, Z31
	VPBROADCASTQ (AX), X30

vnniRows:
	MOVQ SI, R9
	LEAQ (SI)(CX*1), R10
	CMPQ BX, $1
	CMOVQEQ SI, R10
	MOVQ DX, R11
	LEAQ (DX)(CX*1), R12
	MOVQ CX, R13
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3

vnniPart:
	VPXORD (R9), Z31, Z4
	VPXORD (R10), Z31, Z5
	VMOVDQU32 (R11), Z6
	VMOVDQU32 (R12), Z7
	VPDPBUSD Z6, Z4, Z0
	VPDPBUSD Z7, Z4, Z1
	VPDPBUSD Z6, Z5, Z2
	VPDPBUSD Z7, Z5, Z3
	ADDQ $64, R9
	ADDQ $64, R10
	ADDQ $64, R11
	ADDQ $64, R12
	SUBQ $64, R13
	JNZ vnniPart

	VEXTRACTI64X4 $1, Z0, Y4
	VEXTRACTI64X4 $1, Z1, Y5
	VEXTRACTI64X4 $1, Z2, Y6
	VEXTRACTI64X4 $1, Z3, Y7
	VPADDD Y4, Y0, Y0
	VPADDD Y5, Y1, Y1
	VPADDD Y6, Y2, Y2
	VPADDD Y7, Y3, Y3
	VPHADDD Y1, Y0, Y0
	VPHADDD Y3, Y2, Y2
	VPHADDD Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPADDD X30, X0, X0
	CMPQ BX, $1
	JEQ vnniLast
	VMOVDQU X0, (DI)
	ADDQ $16, DI
	LEAQ (SI)(CX*2), SI
	SUBQ $2, BX
	JNZ vnniRows
	VZEROUPPER
	RET

vnniLast:
	VMOVQ X0, (DI)
	VZEROUPPER
	RET

// func dotsAVX2(dst *int32, rows *int8, pair *int16, stride, n int)
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ pair+16(FP), DX
	MOVQ stride+24(FP), CX
	MOVQ n+32(FP), BX

avx2Rows:
	MOVQ SI, R9
	LEAQ (SI)(CX*1), R10
	CMPQ BX, $1
	CMOVQEQ SI, R10
	MOVQ DX, R11
	LEAQ (DX)(CX*2), R12
	MOVQ CX, R13
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3

avx2Part:
	VPMOVSXBW (R9), Y4
	VPMOVSXBW (R10), Y5
	VMOVDQU (R11), Y6
	VMOVDQU (R12), Y7
	VPMADDWD Y6, Y4, Y8
	VPMADDWD Y7, Y4, Y9
	VPMADDWD Y6, Y5, Y10
	VPMADDWD Y7, Y5, Y11
	VPADDD Y8, Y0, Y0
	VPADDD Y9, Y1, Y1
	VPADDD Y10, Y2, Y2
	VPADDD Y11, Y3, Y3
	ADDQ $16, R9
	ADDQ $16, R10
	ADDQ $32, R11
	ADDQ $32, R12
	SUBQ $16, R13
	JNZ avx2Part

	VPHADDD Y1, Y0, Y0
	VPHADDD Y3, Y2, Y2
	VPHADDD Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	CMPQ BX, $1
	JEQ avx2Last
	VMOVDQU X0, (DI)
	ADDQ $16, DI
	LEAQ (SI)(CX*2), SI
	SUBQ $2, BX
	JNZ avx2Rows
	VZEROUPPER
	RET

avx2Last:
	VMOVQ X0, (DI)
	VZEROUPPER
	RET
