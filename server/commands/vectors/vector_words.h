// Arguments and replies that the commands of vector sets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datatypes/vector_set.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {

inline constexpr char kBadVector[] = "ERR invalid vector specification";
inline constexpr char kLargeProjection[] = "ERR REDUCE needs a matrix of more than 64 MB";
inline constexpr char kBadEf[] = "ERR invalid EF";

}  // namespace refusals

// As in Redis, all commands of vector sets have these key flags, also those that only read.
inline constexpr int kVectorKeyFlags = kKeyRW | kKeyAccess | kKeyUpdate;
inline constexpr std::string_view kVectorModule = "vectorset";  // the module of Redis that has the commands

// Takes `FP32 blob` or `VALUES n number…`. Throws if a number is not finite, or if there are too many.
std::vector<float> TakeVector(Args& args);  // reads a vector from the arguments, or throws
// Takes the value of EF, from 1 to a million, or throws.
uint32_t TakeEf(Args& args);  // reads the value of EF, or throws
// Throws a Refusal unless vectors with this number of dimensions can be used with the set. After REDUCE, the number
// must be the input dimensions of the matrix, otherwise the dimensions of the set.
void CheckVectorDimensions(const VectorTable& table, size_t dimensions);  // throws if the number of dimensions is wrong
inline std::string DimensionMismatch(size_t got, uint32_t has) {          // the error for a vector that does not fit
  return "ERR Vector dimension mismatch - got " + std::to_string(got) + " but set has " + std::to_string(has);
}

struct EncodedVector {          // a vector in the form that a set stores
  std::vector<uint64_t> words;  // the bytes of the encoded vector, padded to whole words
  float scale = 0;              // with Q8: the value that 127 stands for (StoredVector::scale)
  float length = 0;             // length of the vector before it was normalised

  StoredVector View() const {  // the vector as a view of this object
    return {words.data(), scale};
  }
};
// Projects the vector with the matrix of REDUCE (if it has the input dimensions of the matrix), normalises it, and
// encodes it.
EncodedVector EncodeVector(const VectorTable& table,  // makes the stored form of a client's vector
                           std::vector<float> vector);

inline double VectorScore(float distance) { return 1.0 - static_cast<double>(distance) / 2; }  // 1: equal, 0: opposite

}  // namespace respite
