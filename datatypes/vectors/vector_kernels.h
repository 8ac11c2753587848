// The inner loops of vector search: products of two vectors, with the instructions that this processor has.
//
// The functions are chosen once per process. Processors without AVX2 use plain code. Sums of integers are exact, so
// they are equal on all processors. Sums of floats differ in the last bits, because the order of the additions differs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace respite {

struct VectorKernels {                                                             // functions for this processor
  int32_t (*dot_int8)(const int8_t* one, const int8_t* other, size_t dimensions);  // dot product; elements -127 to 127
  float (*dot_float)(const float* one, const float* other, size_t dimensions);  // dot product of two vectors of floats
  uint32_t (*count_different)(const uint64_t* one, const uint64_t* other, size_t words);  // number of different bits

  static const VectorKernels& Best();   // the fastest functions that this processor can run
  static const VectorKernels& Plain();  // functions that every processor can run
};

}  // namespace respite
