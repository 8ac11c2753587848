#include "persistence/lzf.h"

#include <liblzf/lzf.h>

#include <limits>

namespace respite {

namespace {

constexpr size_t kLeastGain = 4;
constexpr size_t kMostOctets = std::numeric_limits<unsigned int>::max();  // what the library can count

// The size of the text that these octets stand for; nothing when they are cut off. They are a row of
//   000nnnnn         n + 1 octets of text follow
//   nnnooooo {1}     n + 2 octets (n from 1 to 6) that came o, {1} before
//   111ooooo {1} {1} the same with n = 7 + the first octet
std::optional<uint64_t> TextSize(Bytes packed) {
  constexpr uint8_t kFirstReference = 32;
  constexpr size_t kLongReference = 7;
  uint64_t size = 0;
  while (!packed.empty()) {
    const auto control = static_cast<uint8_t>(packed[0]);
    size_t taken = 2;
    if (control < kFirstReference) {
      taken = control + size_t{2};
      size += control + size_t{1};
    } else {
      const size_t length = control >> 5;
      size += length + 2;
      if (length == kLongReference) {
        taken = 3;
        if (packed.size() > 1) size += static_cast<uint8_t>(packed[1]);
      }
    }
    if (packed.size() < taken) return std::nullopt;
    packed.remove_prefix(taken);
  }
  return size;
}

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
  if (size == 0 || size > kMostOctets || TextSize(packed) != size) return std::nullopt;
  std::string text(size, '\0');
  const unsigned int made = lzf_decompress(packed.data(), static_cast<unsigned int>(packed.size()), text.data(),
                                           static_cast<unsigned int>(text.size()));
  if (made != size) return std::nullopt;
  return text;
}

}  // namespace respite
