#include "persistence/lzf.h"

#include <liblzf/lzf.h>

#include <limits>

namespace respite {

namespace {

constexpr size_t kLeastGain = 4;
// A reference of 3 octets stands for 264 at most.
constexpr uint64_t kMostPerOctet = 88;
constexpr size_t kMostOctets = std::numeric_limits<unsigned int>::max();  // what the library can count

}  // namespace

std::optional<std::string> CompressLzf(Bytes text) {
  if (text.size() <= kLeastGain || text.size() > kMostOctets) return std::nullopt;
  std::string packed(text.size() - kLeastGain, '\0');
  const unsigned int size = lzf_compress(text.data(), static_cast<unsigned int>(text.size()), packed.data(),
                                         static_cast<unsigned int>(packed.size()));
  if (size == 0) return std::nullopt;
  packed.resize(size);
  return packed;
}

std::optional<std::string> DecompressLzf(Bytes packed, uint64_t size) {
  if (packed.empty() || size == 0 || size > kMostOctets || size / kMostPerOctet > packed.size()) return std::nullopt;
  std::string text(size, '\0');
  const unsigned int made = lzf_decompress(packed.data(), static_cast<unsigned int>(packed.size()), text.data(),
                                           static_cast<unsigned int>(text.size()));
  if (made != size) return std::nullopt;
  return text;
}

}  // namespace respite
