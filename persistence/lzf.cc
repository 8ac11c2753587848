#include "persistence/lzf.h"

#include <liblzf/lzf.h>

#include <limits>

namespace respite {

namespace {

constexpr size_t kMinGain = 4;
constexpr size_t kMaxBytes = std::numeric_limits<unsigned int>::max();  // the library takes sizes as unsigned int
// The maximum number of text bytes for each compressed byte: three compressed bytes expand to at most 264 bytes.
constexpr uint64_t kMaxPerByte = 88;

}  // namespace

size_t CompressLzf(Bytes text, char* into) {
  if (text.size() <= kMinGain || text.size() > kMaxBytes) return 0;
  const auto size = static_cast<unsigned int>(text.size());
  return lzf_compress(text.data(), size, into, size - static_cast<unsigned int>(kMinGain));
}

bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size) {
  return size > 0 && size <= kMaxBytes && packed_size <= kMaxBytes && size <= packed_size * kMaxPerByte;
}

bool DecompressLzf(Bytes packed, std::span<char> text) {
  if (packed.empty() || !IsPossibleLzfSize(packed.size(), text.size())) return false;
  return lzf_decompress(packed.data(), static_cast<unsigned int>(packed.size()), text.data(),
                        static_cast<unsigned int>(text.size())) == text.size();
}

}  // namespace respite
