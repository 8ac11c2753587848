#include "datatypes/vectors/vector_kernels.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace respite {

namespace {

int32_t DotInt8Plain(const int8_t* one, const int8_t* other, size_t dimensions) {
  int32_t sum = 0;
  for (size_t i = 0; i < dimensions; ++i) sum += int32_t{one[i]} * other[i];
  return sum;
}

// Computes four partial sums and adds them at the end, so that an addition need not wait for the result of the previous
// one.
float DotFloatPlain(const float* one, const float* other, size_t dimensions) {
  float sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= dimensions; i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += one[i + lane] * other[i + lane];
  }
  for (; i < dimensions; ++i) sums[0] += one[i] * other[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

uint32_t CountDifferentPlain(const uint64_t* one, const uint64_t* other, size_t words) {
  uint32_t count = 0;
  for (size_t i = 0; i < words; ++i) count += static_cast<uint32_t>(std::popcount(one[i] ^ other[i]));
  return count;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) inline int32_t SumOfLanes(__m256i lanes) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
  return _mm_cvtsi128_si32(sum);
}

// Multiplies |a| with b * sign(a), because the instruction needs one factor without a sign. The sum of two products is
// at most 2 * 127 * 127, which fits into 16 bits.
__attribute__((target("avx2"))) inline __m256i ProductsOf32(const int8_t* one, const int8_t* other) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(one));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(other));
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

__attribute__((target("avx2"))) int32_t DotInt8Avx2(const int8_t* one, const int8_t* other, size_t dimensions) {
  __m256i first = _mm256_setzero_si256();
  __m256i second = _mm256_setzero_si256();
  size_t i = 0;
  for (; i + 64 <= dimensions; i += 64) {
    first = _mm256_add_epi32(first, ProductsOf32(one + i, other + i));
    second = _mm256_add_epi32(second, ProductsOf32(one + i + 32, other + i + 32));
  }
  if (i + 32 <= dimensions) {
    first = _mm256_add_epi32(first, ProductsOf32(one + i, other + i));
    i += 32;
  }
  int32_t sum = SumOfLanes(_mm256_add_epi32(first, second));
  for (; i < dimensions; ++i) sum += int32_t{one[i]} * other[i];
  return sum;
}

__attribute__((target("avx2,fma"))) float DotFloatAvx2(const float* one, const float* other, size_t dimensions) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  size_t i = 0;
  for (; i + 32 <= dimensions; i += 32) {
    for (size_t lane = 0; lane < 4; ++lane) {
      sums[lane] =
          _mm256_fmadd_ps(_mm256_loadu_ps(one + i + 8 * lane), _mm256_loadu_ps(other + i + 8 * lane), sums[lane]);
    }
  }
  for (; i + 8 <= dimensions; i += 8) {
    sums[0] = _mm256_fmadd_ps(_mm256_loadu_ps(one + i), _mm256_loadu_ps(other + i), sums[0]);
  }
  const __m256 all = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  float sum = _mm_cvtss_f32(half) + _mm_cvtss_f32(_mm_shuffle_ps(half, half, 1));
  for (; i < dimensions; ++i) sum += one[i] * other[i];
  return sum;
}

__attribute__((target("avx512f,avx512bw"))) int32_t DotInt8Avx512(const int8_t* one, const int8_t* other,
                                                                  size_t dimensions) {
  __m512i sums = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + 32 <= dimensions; i += 32) {
    const __m512i a = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(one + i)));
    const __m512i b = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(other + i)));
    sums = _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
  }
  int32_t lanes[16];
  _mm512_storeu_si512(lanes, sums);
  int32_t sum = 0;
  for (const int32_t lane : lanes) sum += lane;
  for (; i < dimensions; ++i) sum += int32_t{one[i]} * other[i];
  return sum;
}

__attribute__((target("avx512f"))) float DotFloatAvx512(const float* one, const float* other, size_t dimensions) {
  __m512 first = _mm512_setzero_ps();
  __m512 second = _mm512_setzero_ps();
  size_t i = 0;
  for (; i + 32 <= dimensions; i += 32) {
    first = _mm512_fmadd_ps(_mm512_loadu_ps(one + i), _mm512_loadu_ps(other + i), first);
    second = _mm512_fmadd_ps(_mm512_loadu_ps(one + i + 16), _mm512_loadu_ps(other + i + 16), second);
  }
  float lanes[16];
  _mm512_storeu_ps(lanes, _mm512_add_ps(first, second));
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < dimensions; ++i) sum += one[i] * other[i];
  return sum;
}

__attribute__((target("popcnt"))) uint32_t CountDifferentPopcnt(const uint64_t* one, const uint64_t* other,
                                                                size_t words) {
  uint64_t count = 0;
  for (size_t i = 0; i < words; ++i) count += static_cast<uint64_t>(_mm_popcnt_u64(one[i] ^ other[i]));
  return static_cast<uint32_t>(count);
}

VectorKernels ChooseKernels() {
  VectorKernels chosen = VectorKernels::Plain();
  __builtin_cpu_init();
  if (__builtin_cpu_supports("popcnt")) chosen.count_different = CountDifferentPopcnt;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    chosen.dot_int8 = DotInt8Avx2;
    chosen.dot_float = DotFloatAvx2;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
    chosen.dot_int8 = DotInt8Avx512;
    chosen.dot_float = DotFloatAvx512;
  }
  return chosen;
}

#else

VectorKernels ChooseKernels() { return VectorKernels::Plain(); }

#endif

}  // namespace

const VectorKernels& VectorKernels::Best() {
  static const VectorKernels kBest = ChooseKernels();
  return kBest;
}

const VectorKernels& VectorKernels::Plain() {
  static constexpr VectorKernels kPlain = {DotInt8Plain, DotFloatPlain, CountDifferentPlain};
  return kPlain;
}

}  // namespace respite
