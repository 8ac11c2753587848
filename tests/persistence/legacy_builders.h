// Builds the packed encodings that only old servers wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/number_text.h"

namespace respite {

inline std::string LittleBytes(uint64_t number, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// The content of an entry of a ziplist.
inline std::string ZiplistEntry(const std::string& text) {
  const auto integer = ParseInteger(text);
  if (integer) {
    const int64_t n = *integer;
    const auto bits = static_cast<uint64_t>(n);
    if (n >= 0 && n <= 12) return std::string(1, static_cast<char>(0xf1 + n));
    if (n == static_cast<int8_t>(n)) return '\xfe' + LittleBytes(bits, 1);
    if (n == static_cast<int16_t>(n)) return '\xc0' + LittleBytes(bits, 2);
    if (n >= -8388608 && n <= 8388607) return '\xf0' + LittleBytes(bits, 3);
    if (n == static_cast<int32_t>(n)) return '\xd0' + LittleBytes(bits, 4);
    return '\xe0' + LittleBytes(bits, 8);
  }
  const size_t size = text.size();
  if (size < 64) return static_cast<char>(size) + text;
  if (size < 16384) return std::string{static_cast<char>(0x40 | size >> 8), static_cast<char>(size)} + text;
  return std::string{'\x80', static_cast<char>(size >> 24), static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                     static_cast<char>(size)} +
         text;
}

inline std::string Ziplist(const std::vector<std::string>& texts) {
  constexpr size_t kHeader = 10;
  std::string entries;
  size_t last = kHeader;
  size_t before = 0;
  for (const std::string& text : texts) {
    last = kHeader + entries.size();
    entries += before < 254 ? std::string(1, static_cast<char>(before)) : '\xfe' + LittleBytes(before, 4);
    entries += ZiplistEntry(text);
    before = kHeader + entries.size() - last;
  }
  return LittleBytes(kHeader + entries.size() + 1, 4) + LittleBytes(last, 4) + LittleBytes(texts.size(), 2) + entries +
         '\xff';
}

// Builds a zipmap from alternating fields and values.
inline std::string Zipmap(const std::vector<std::string>& texts) {
  std::string zipmap(1, static_cast<char>(texts.size() / 2));
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t size = texts[i].size();
    zipmap += size < 254 ? std::string(1, static_cast<char>(size)) : '\xfe' + LittleBytes(size, 4);
    if (i % 2 == 1) zipmap += '\0';
    zipmap += texts[i];
  }
  return zipmap + '\xff';
}

}  // namespace respite
