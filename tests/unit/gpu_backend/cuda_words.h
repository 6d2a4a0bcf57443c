/*
 * cuda_words.h - the words of CUDA C++ that the arithmetic of the device header uses, declared for
 * a C++ compiler: enough to compile it, nothing that could run. SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_CUDA_WORDS_H
#define GROUT_TEST_CUDA_WORDS_H

#include <cmath>
#include <cstring>

#define __device__
#define __forceinline__ inline

float __uint_as_float(unsigned bits);
unsigned __float_as_uint(float value);
double __longlong_as_double(long long bits);
long long __double_as_longlong(double value);
int __clz(int a);
int __clzll(long long a);
int __popc(unsigned a);
int __popcll(unsigned long long a);
float __fadd_rn(float a, float b);
float __fsub_rn(float a, float b);
float __fmul_rn(float a, float b);
float __fdiv_rn(float a, float b);
float __fmaf_rn(float a, float b, float c);
float __fsqrt_rn(float a);
double __dsqrt_rn(double a);
double __dadd_rn(double a, double b);
double __dsub_rn(double a, double b);
double __dmul_rn(double a, double b);
double __ddiv_rn(double a, double b);
double __fma_rn(double a, double b, double c);
double rsqrt(double a);
float rsqrtf(float a);
float __double2float_rz(double a);
using std::memcpy;

#endif
