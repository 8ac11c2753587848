// Helpers for the commands of hashes, sets and sorted sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/refusal.h"
#include "datatypes/hash.h"
#include "datatypes/set.h"
#include "protocol/reply_buffer.h"
#include "server/clients/session.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {

inline constexpr char kReplyTooLong[] = "ERR the reply would have more than 10000000 elements or 512 MB";

}  // namespace refusals

// --- Random elements.

// Limits the size of the replies of SRANDMEMBER, HRANDFIELD and ZRANDMEMBER with a negative count, with which clients
// may ask for any number of elements. The limit also applies if the client has no output buffer limit.
class RandomReplyLimit {  // limits replies with random elements that may repeat, such as SRANDMEMBER key -5
 public:
  static constexpr uint64_t kMaxElements = 10'000'000;  // maximum number of elements of a reply

  // `count` is the number of elements that the client wants; throws a Refusal if it exceeds kMaxElements. Must be
  // constructed before any part of the reply is written, because Check counts the bytes of the reply from here on.
  RandomReplyLimit(const Call& call, uint64_t count) : out_(call.session.out), start_(out_.Size()) {
    if (count > kMaxElements) throw Refusal{refusals::kReplyTooLong};
  }

  void Check() const {  // throws a Refusal above kMaxReplyBytes. Call it after each element
    if (out_.Size() - start_ > kMaxReplyBytes) throw Refusal{refusals::kReplyTooLong};
  }

 private:
  static constexpr size_t kMaxReplyBytes = 512 * 1024 * 1024;  // maximum size of a reply with repeats, in bytes

  const ReplyBuffer& out_;
  size_t start_;  // size of the client's output before the reply
};

// --- Hashes.

inline size_t ListpackBytesFor(std::span<const Bytes> words) {  // bytes that the words need in a listpack
  constexpr size_t kLongestInteger = 20;
  size_t room = 0;
  for (Bytes word : words) {
    const bool may_be_integer = word.size() <= kLongestInteger && !word.empty() && word[0] <= '9';
    room += may_be_integer || word.size() >= 64 ? Listpack::SizeFor(word) : word.size() + 2;
  }
  return room;
}

// `words` are fields, each followed by its value. A new hash gets space for them, at most kMostReservedBytes bytes.
inline Edit<Hash> OpenForFields(Call& call, Bytes key,  // opens the hash, or creates one with space for the fields
                                std::span<const Bytes> words) {
  constexpr size_t kMostReservedBytes = 4096;  // a larger hash is usually not packed
  return call.db.OpenOrCreate<Hash>(key, std::min(ListpackBytesFor(words), kMostReservedBytes));
}

// Propagates fields with new values, each field followed by its value, as HSET and HPEXPIREAT. HSET removes deadlines,
// so the current deadlines of the fields are set again. Replicas before Redis 8.0 have no HSETEX.
void RecordFields(Call& call, Bytes key, const Hash& hash,  // propagates values and deadlines, as HSET and HPEXPIREAT
                  std::span<const Bytes> pairs);

inline void ReplyField(Call& call, const Hash& hash, Bytes field) {  // replies with the value of the field, or null
  const auto value = hash.Get(field);
  value ? call.reply.Bulk(value->View()) : call.reply.Null();
}

// --- Sets.

inline void ReplyMember(Reply& reply, const PackedElement& member) {  // replies with a member of a set
  member.is_integer ? reply.BulkInteger(member.integer) : reply.Bulk(member.text);
}

// Calls visit(word) for each of `words`, until visit returns false. The words are arguments of a command that name
// possible members of `set`. Prefetches what looking up the next 16 words in a large set will read.
template <class Visit>
void ForEachMemberWord(const Set& set,  // calls visit(word) until it returns false; prefetches look-ups
                       std::span<const Bytes> words, Visit&& visit) {
  for (size_t at = 0; at < words.size(); ++at) {
    if (at % Set::kPrefetchAhead == 0 && words.size() > 1) set.PrefetchMembers(words.subspan(at));
    if (!visit(words[at])) return;
  }
}

}  // namespace respite
