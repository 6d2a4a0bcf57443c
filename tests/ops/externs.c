/* SPDX-License-Identifier: Apache-2.0 */
/* externs.c - the functions that extern_elementwise.grout and inline_ptx.grout call: as C for a
 * shared library, as CUDA C++ for the GPU. */
#ifdef __cplusplus
#define EXTERN extern "C" __device__
#else
#define EXTERN
#define bool _Bool
#endif

EXTERN float externs_clip(float x, int most) {
    return x < most ? x : most;
}

EXTERN int externs_square(int n) {
    return n * n + 1;
}

/* The bits of an f16 and of an f8e4m3. */
EXTERN unsigned short externs_negate_f16(unsigned short bits) {
    return bits ^ 0x8000;
}

EXTERN unsigned char externs_negate_f8(unsigned char bits) {
    return bits ^ 0x80;
}

EXTERN bool externs_is_between(float low, float x, float high) {
    return low <= x && x <= high;
}

EXTERN double externs_sum(signed char a, unsigned char b, short c, unsigned short d, int e,
                          unsigned int f, long long g, unsigned long long h, float i, double j,
                          bool k) {
    return (double)a + b + c + d + e + f + g + h + i + j + (k ? 1 : 0);
}

EXTERN int externs_seven(void) {
    return 7;
}

EXTERN unsigned int externs_xor3(unsigned int a, unsigned int b, unsigned int c) {
    return a ^ b ^ c;
}

EXTERN int externs_swap_bytes(int n) {
    const unsigned int bits = (unsigned int)n;
    return (int)(bits << 24 | (bits & 0xff00) << 8 | (bits >> 8 & 0xff00) | bits >> 24);
}

EXTERN unsigned short externs_negate_half(unsigned short bits) {
    return bits ^ 0x8000;
}

EXTERN unsigned short externs_negate_brain(unsigned short bits) {
    return bits ^ 0x8000;
}

EXTERN short externs_low_bits(short a, unsigned short mask) {
    return (short)(a & mask);
}

EXTERN float externs_add_if_differs(float a, float b) {
    return a != b ? a + b : a;
}

EXTERN double externs_add_f64(double a, double b) {
    return a + b;
}

EXTERN long long externs_join(int low, int high) {
    return (long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low);
}
