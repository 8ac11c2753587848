// NodeId: the id of a node in its cluster, or of a shard: 40 random lower-case hexadecimal digits.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/random.h"

namespace respite {

class NodeId {  // id of a node or shard: 40 hexadecimal digits
 public:
  static constexpr size_t kLength = 40;  // number of hexadecimal digits

  // Makes the null id, which names no node.
  NodeId() = default;
  // Makes an id from 40 bytes of a bus packet, without checking them (see IsValid). 40 zero bytes are the null id.
  static NodeId FromBytes(Bytes bytes) {  // takes exactly 40 bytes, unchecked
    NodeId id;
    std::copy_n(bytes.begin(), kLength, id.bytes_.begin());
    return id;
  }
  static std::optional<NodeId> Parse(Bytes text) {  // reads an ID; nullopt: not 40 lower-case hexadecimal digits
    if (text.size() != kLength) return std::nullopt;
    const bool is_id = std::ranges::all_of(text, [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
    return is_id ? std::optional(FromBytes(text)) : std::nullopt;
  }
  static NodeId Draw(Random& random) {
    NodeId id;
    for (char& byte : id.bytes_) byte = "0123456789abcdef"[random.Below(16)];
    return id;
  }

  bool IsNull() const { return bytes_[0] == '\0'; }           // true: the null id, which names no node
  bool IsValid() const { return Parse(Text()).has_value(); }  // false: the null id, or other bytes from a broken packet
  Bytes Text() const { return {bytes_.data(), kLength}; }
  std::string String() const { return std::string(Text()); }  // the ID as 40 hexadecimal digits
  // NOLINTNEXTLINE(modernize-use-nullptr): false positive in the code that the compiler generates
  auto operator<=>(const NodeId&) const = default;

 private:
  std::array<char, kLength> bytes_{};  // the digits; all bytes are 0 in the null id
};

}  // namespace respite
