// VectorFormat: how the vectors of a set or an index are stored, and the distance between two stored vectors.
//
//   kFloat   fp32, 4 bytes per dimension
//   kInt8    round(x * 127 / scale), 1 byte per dimension, from -127 to 127; `scale` is the greatest |x|
//   kBinary  the bit is 1 if x > 0, in words of 64 bits
//
// Vectors are normalised to length 1 before they are stored. Distances are 1 - cosine, so from 0 (same direction) to 2
// (opposite direction). For kBinary, the distance is 2 * different bits / dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datatypes/vectors/vector_kernels.h"

namespace respite {

enum class VectorEncoding : uint8_t { kFloat = 0, kInt8 = 1, kBinary = 2 };  // the numbers are those of RDB files

struct StoredVector {          // a stored vector, as a view
  const void* data = nullptr;  // VectorFormat::Bytes() bytes, aligned to 4 bytes, or 8 for kBinary
  float scale = 0;             // kInt8: the value that 127 stands for; not used otherwise
};

class VectorFormat {  // encoding and number of dimensions
 public:
  VectorFormat(VectorEncoding encoding, uint32_t dimensions) : encoding_(encoding), dimensions_(dimensions) {}

  VectorEncoding encoding() const { return encoding_; }  // how a number is stored
  uint32_t dimensions() const { return dimensions_; }    // number of elements of a vector
  size_t Bytes() const {                                 // bytes of a stored vector
    switch (encoding_) {
      case VectorEncoding::kFloat:
        return size_t{dimensions_} * sizeof(float);
      case VectorEncoding::kInt8:
        return dimensions_;
      case VectorEncoding::kBinary:
        return BinaryWords() * sizeof(uint64_t);
    }
    return 0;
  }
  size_t BinaryWords() const { return (size_t{dimensions_} + 63) / 64; }  // words of 64 bits of a kBinary vector

  float Distance(const StoredVector& one, const StoredVector& other) const {  // 1 - cosine, from 0 to 2
    float distance = 0;
    switch (encoding_) {
      case VectorEncoding::kFloat:
        distance = 1 - kernels_->dot_float(static_cast<const float*>(one.data), static_cast<const float*>(other.data),
                                           dimensions_);
        break;
      case VectorEncoding::kInt8: {
        const int32_t dot = kernels_->dot_int8(static_cast<const int8_t*>(one.data),
                                               static_cast<const int8_t*>(other.data), dimensions_);
        distance = 1 - static_cast<float>(dot) * ((one.scale / kMaxInt8Element) * (other.scale / kMaxInt8Element));
        break;
      }
      case VectorEncoding::kBinary:
        return 2 *
               static_cast<float>(kernels_->count_different(static_cast<const uint64_t*>(one.data),
                                                            static_cast<const uint64_t*>(other.data), BinaryWords())) /
               static_cast<float>(dimensions_);
    }
    return !(distance > 0) ? 0 : distance > 2 ? 2 : distance;  // 0 also for NaN
  }

  // Encodes a normalised vector (of Euclidean length 1) into `to`. Returns StoredVector::scale, which is 0 unless the
  // encoding is kInt8. Cost: O(dimensions).
  float Encode(std::span<const float> unit, void* to) const;  // encodes a normalised vector; returns its scale
  // Appends the stored vector, multiplied with `length`. For kBinary, appends 1 and -1.
  void Decode(const StoredVector& stored, float length, std::vector<float>& to) const;  // appends the elements

 private:
  static constexpr float kMaxInt8Element = 127;  // the greatest element of a kInt8 vector

  const VectorKernels* kernels_ = &VectorKernels::Best();  // the loops for this processor
  VectorEncoding encoding_;
  uint32_t dimensions_;
};

// Divides the vector by its length. A vector of zeros stays as it is, and counts as one of length 1.
float NormalizeVector(std::span<float> vector);  // gives the vector the length 1; returns the length before (zeros: 1)

// Projects a vector to fewer dimensions with a matrix of rows of vector.size() floats, one for each element of the
// result. Cost: O(matrix).
std::vector<float> ProjectVector(std::span<const float> vector, std::span<const float> matrix);  // matrix * vector
// As in Redis, the matrix depends only on `input` and `output`: it has the signs of a Walsh-Hadamard matrix, divided by
// the square root of `input`. So a replica computes the vectors that its primary has.
std::vector<float> HadamardProjection(uint32_t input, uint32_t output);  // for REDUCE: `output` rows of `input` floats

}  // namespace respite
