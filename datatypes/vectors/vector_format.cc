#include "datatypes/vectors/vector_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace respite {

float VectorFormat::Encode(std::span<const float> unit, void* to) const {
  if (encoding_ == VectorEncoding::kFloat) {
    std::memcpy(to, unit.data(), unit.size_bytes());
    return 0;
  }
  if (encoding_ == VectorEncoding::kBinary) {
    auto* words = static_cast<uint64_t*>(to);
    std::fill_n(words, BinaryWords(), uint64_t{0});
    for (size_t i = 0; i < unit.size(); ++i) words[i / 64] |= uint64_t{unit[i] > 0} << (i % 64);
    return 0;
  }
  float greatest = 0;
  for (const float x : unit) greatest = std::max(greatest, std::fabs(x));
  auto* bytes = static_cast<int8_t*>(to);
  if (greatest == 0) {
    std::fill_n(bytes, unit.size(), int8_t{0});
    return 0;
  }
  for (size_t i = 0; i < unit.size(); ++i)
    bytes[i] = static_cast<int8_t>(std::round(unit[i] / greatest * kMaxInt8Element));
  return greatest;
}

void VectorFormat::Decode(const StoredVector& stored, float length, std::vector<float>& to) const {
  for (uint32_t i = 0; i < dimensions_; ++i) {
    switch (encoding_) {
      case VectorEncoding::kFloat:
        to.push_back(static_cast<const float*>(stored.data)[i] * length);
        break;
      case VectorEncoding::kInt8:
        to.push_back(static_cast<float>(static_cast<const int8_t*>(stored.data)[i]) * stored.scale / kMaxInt8Element *
                     length);
        break;
      case VectorEncoding::kBinary:
        to.push_back((static_cast<const uint64_t*>(stored.data)[i / 64] >> (i % 64) & 1) != 0 ? 1.0F : -1.0F);
        break;
    }
  }
}

float NormalizeVector(std::span<float> vector) {
  double squares = 0;
  for (const float x : vector) squares += double{x} * x;
  if (squares == 0) return 1;
  const double length = std::sqrt(squares);
  const auto shown = static_cast<float>(std::min<double>(length, std::numeric_limits<float>::max()));
  // Divides by the length as a float, because Redis does so and the results must have the same bits. If the length is
  // too small or too large for a float, divides by the double.
  const bool is_float = shown >= std::numeric_limits<float>::min() && length <= std::numeric_limits<float>::max();
  for (float& x : vector) x = is_float ? x / shown : static_cast<float>(x / length);
  return shown;
}

std::vector<float> ProjectVector(std::span<const float> vector, std::span<const float> matrix) {
  std::vector<float> result(matrix.size() / vector.size());
  for (size_t row = 0; row < result.size(); ++row) {
    float sum = 0;
    for (size_t i = 0; i < vector.size(); ++i) sum += vector[i] * matrix[row * vector.size() + i];
    result[row] = std::isfinite(sum) ? sum : 0;  // sums of extreme vectors may be no numbers
  }
  return result;
}

std::vector<float> HadamardProjection(uint32_t input, uint32_t output) {
  const float size = 1 / std::sqrt(static_cast<float>(input));
  std::vector<float> matrix(size_t{input} * output);
  for (uint32_t row = 0; row < output; ++row) {
    for (uint32_t i = 0; i < input; ++i) {
      matrix[size_t{row} * input + i] = std::popcount(row & i) % 2 == 0 ? size : -size;
    }
  }
  return matrix;
}

}  // namespace respite
