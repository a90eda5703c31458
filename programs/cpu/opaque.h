/*
 * Keeps work whose results are not used: an empty assembler statement that says its operand may
 * have changed. Nothing that passes through one can be folded, shared, moved across another,
 * vectorised or dropped.
 */
#ifndef OPAQUE_H
#define OPAQUE_H

/*
 * Where a double is kept. Where the name of that is not known it passes through memory, which takes
 * longer.
 */
#if defined __x86_64__ || defined __SSE2__
#define FLOAT_REGISTER "+x"
#elif defined __aarch64__ || defined __ARM_FP
#define FLOAT_REGISTER "+w"
#elif defined __powerpc64__
#define FLOAT_REGISTER "+d"
#elif defined __riscv_flen || defined __s390x__ || defined __loongarch64
#define FLOAT_REGISTER "+f"
#else
#define FLOAT_REGISTER "+m"
#endif

#define OPAQUE(x) __asm__ volatile("" : "+r"(x))
#define OPAQUE_FLOAT(x) __asm__ volatile("" : FLOAT_REGISTER(x))

#endif
