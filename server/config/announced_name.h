// What a node of a cluster announces of itself (an address, a host name, a name for people) stands in nodes.conf and in
// CLUSTER NODES, where white space, commas and ends of lines separate the fields.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/bytes.h"

namespace respite {

constexpr bool IsAnnouncedName(Bytes text) {
  constexpr size_t kLimit = 256;
  constexpr char kDelete = 0x7f;
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != ',' && c != '"' && c != '\\' && c != kDelete;
  };
  return text.size() < kLimit && std::all_of(text.begin(), text.end(), is_plain);
}

constexpr bool IsHostname(Bytes text) {
  const auto may_stand = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
  };
  return std::all_of(text.begin(), text.end(), may_stand);
}

}  // namespace respite
