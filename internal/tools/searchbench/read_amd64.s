#include "textflag.h"

// func readAVX2(at *byte, n int)
TEXT ·readAVX2(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), SI
	MOVQ n+8(FP), CX

part:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	ADDQ $128, SI
	SUBQ $128, CX
	JNZ part
	VZEROUPPER
	RET
