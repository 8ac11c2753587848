// What the commands on hashes have in common.
#pragma once

#include <algorithm>
#include <span>

#include "datatypes/hash.h"
#include "server/execution/call.h"

namespace respite {

// Bytes that fields and values take in a listpack.
inline size_t RoomFor(std::span<const Bytes> words) {
  constexpr size_t kLongestInteger = 20;
  size_t room = 0;
  for (Bytes word : words) {
    const bool may_be_integer = word.size() <= kLongestInteger && !word.empty() && word[0] <= '9';
    room += may_be_integer || word.size() >= 64 ? Listpack::SizeFor(word) : word.size() + 2;
  }
  return room;
}

// Opens a hash, or makes one with room for these fields and values, in turn.
inline Edit<Hash> OpenForFields(Call& call, Bytes key, std::span<const Bytes> words) {
  constexpr size_t kMostRoom = 4096;  // what is larger hardly stays packed
  return call.db.OpenOrCreate<Hash>(key, std::min(RoomFor(words), kMostRoom));
}

inline void ReplyField(Call& call, const Hash& hash, Bytes field) {
  const auto value = hash.Get(field);
  value ? call.reply.Bulk(value->View()) : call.reply.Null();
}

}  // namespace respite
