// Helpers for hash commands.
#pragma once

#include <algorithm>
#include <span>

#include "datatypes/hash.h"
#include "server/execution/call.h"

namespace respite {

// Returns the bytes that these fields and values need in a listpack.
inline size_t RoomFor(std::span<const Bytes> words) {
  constexpr size_t kLongestInteger = 20;
  size_t room = 0;
  for (Bytes word : words) {
    const bool may_be_integer = word.size() <= kLongestInteger && !word.empty() && word[0] <= '9';
    room += may_be_integer || word.size() >= 64 ? Listpack::SizeFor(word) : word.size() + 2;
  }
  return room;
}

// Opens or creates a hash. A new one has room for these alternating fields and values.
inline Edit<Hash> OpenForFields(Call& call, Bytes key, std::span<const Bytes> words) {
  constexpr size_t kMostRoom = 4096;  // a larger hash is usually not packed
  return call.db.OpenOrCreate<Hash>(key, std::min(RoomFor(words), kMostRoom));
}

inline void ReplyField(Call& call, const Hash& hash, Bytes field) {
  const auto value = hash.Get(field);
  value ? call.reply.Bulk(value->View()) : call.reply.Null();
}

}  // namespace respite
