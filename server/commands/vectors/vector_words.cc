#include "server/commands/vectors/vector_words.h"

#include <cmath>
#include <cstring>
#include <utility>

namespace respite {

namespace {

constexpr int64_t kMaxEf = 1'000'000;

std::vector<float> VectorOfBlob(Bytes blob) {
  if (blob.empty() || blob.size() % sizeof(float) != 0) throw Refusal{refusals::kBadVector};
  if (blob.size() / sizeof(float) > VectorTable::kMaxDimensions) throw Refusal{refusals::kBadVector};
  std::vector<float> vector(blob.size() / sizeof(float));
  std::memcpy(vector.data(), blob.data(), blob.size());
  for (const float number : vector) {
    if (!std::isfinite(number)) throw Refusal{refusals::kBadVector};
  }
  return vector;
}

std::vector<float> VectorOfWords(std::span<const Bytes> words) {
  std::vector<float> vector;
  vector.reserve(words.size());
  for (const Bytes word : words) {
    const auto number = ParseDouble(word);
    if (!number || !std::isfinite(static_cast<float>(*number))) throw Refusal{refusals::kBadVector};
    vector.push_back(static_cast<float>(*number));
  }
  return vector;
}

}  // namespace

std::vector<float> TakeVector(Args& args) {
  if (args.TakeTokenWith("FP32", 1)) return VectorOfBlob(args.Next());
  if (!args.TakeTokenWith("VALUES", 1)) throw Refusal{refusals::kBadVector};
  const size_t count = args.NextCount(1, refusals::kBadVector);
  if (count > VectorTable::kMaxDimensions) throw Refusal{refusals::kBadVector};
  return VectorOfWords(args.NextMany(count, refusals::kBadVector));
}

uint32_t TakeEf(Args& args) {
  const size_t ef = args.NextCount(1, refusals::kBadEf);
  if (ef > kMaxEf) throw Refusal{refusals::kBadEf};
  return static_cast<uint32_t>(ef);
}

void CheckVectorDimensions(const VectorTable& table, size_t dimensions) {
  const VectorSetShape& shape = table.shape();
  if (shape.input_dimensions == 0) {
    if (dimensions != shape.dimensions) throw Refusal{DimensionMismatch(dimensions, shape.dimensions)};
  } else if (dimensions != shape.input_dimensions) {
    throw Refusal{"ERR Input dimension mismatch for projection - got " + std::to_string(dimensions) +
                  " but projection expects " + std::to_string(shape.input_dimensions)};
  }
}

EncodedVector EncodeVector(const VectorTable& table, std::vector<float> vector) {
  if (vector.size() == table.shape().input_dimensions) vector = ProjectVector(vector, table.projection());
  EncodedVector encoded;
  encoded.length = NormalizeVector(vector);
  encoded.words.resize((table.graph().format().Bytes() + 7) / 8);
  encoded.scale = table.graph().format().Encode(vector, encoded.words.data());
  return encoded;
}

}  // namespace respite
