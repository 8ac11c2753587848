#include "server/execution/prefetcher.h"

#include "datatypes/keyspace.h"
#include "server/execution/executor.h"

namespace respite {

namespace {

// Guesses which argument of a command on hashes, sets or sorted sets is a field or member, and returns its index; 0 if
// there is none. In most commands this argument follows the key. In ZADD and ZINCRBY the member follows its score, so
// the last argument is the member.
size_t MemberWord(const Command& command, size_t key, size_t words) {
  const CommandGroup group = command.Spec().group;
  if (group == CommandGroup::kHash || group == CommandGroup::kSet) return key + 1;
  if (group != CommandGroup::kSortedSet) return 0;
  return command.Is(kDenyOom) ? words - 1 : key + 1;
}

// Returns the end of the list that the command probably uses: a name that begins with "r" (RPUSH, RPOP) means the tail.
// BRPOP and LMOVE may also use the tail. Then the prefetch of the head is wasted.
ListEnd EndOf(const Command& command) { return command.name[0] == 'r' ? ListEnd::kTail : ListEnd::kHead; }

}  // namespace

const std::vector<Prefetcher::ResolvedRequest>& Prefetcher::Resolve(const RequestBatch& batch, int db) {
  resolved_.clear();
  if (batch.requests.size() == 1) {
    resolved_.push_back({parts_.executor.Resolve(batch.Words(batch.requests[0])), {}});
    return resolved_;
  }
  key_lookups_.clear();
  member_lookups_.clear();
  list_lookups_.clear();
  const Database& data = parts_.keyspace[db];
  Bytes last_name;  // pipelines mostly repeat one command, so this saves look-ups
  const Command* command = nullptr;
  Bytes last_key;  // many pipelines also repeat one key
  for (const RequestBatch::Request& request : batch.requests) {
    auto words = batch.Words(request);
    bool repeated = command != nullptr && !command->IsContainer() && command->parent == nullptr;
    if (!repeated || words[0] != last_name) {
      command = parts_.executor.Resolve(words);
      last_name = words[0];
    }
    resolved_.push_back({command, {}});
    size_t key = command == nullptr ? 0 : command->prefetch_key_index;
    if (key == 0 || key >= words.size()) continue;
    if (key_lookups_.empty() || words[key] != last_key) {
      last_key = words[key];
      key_lookups_.push_back({data.Hash(last_key), command->Is(kDenyOom)});
    }
    const uint64_t key_hash = key_lookups_.back().hash;
    resolved_.back().key = {words[key], key_hash};
    if (command->Spec().group == CommandGroup::kList) {
      const ListLookup lookup = {last_key, EndOf(*command), key_hash};
      if (list_lookups_.empty() || list_lookups_.back() != lookup) list_lookups_.push_back(lookup);
      continue;
    }
    const size_t member = MemberWord(*command, key, words.size());
    if (member > key && member < words.size()) member_lookups_.push_back({last_key, words[member], key_hash});
  }
  PrefetchKeys(data);
  if (!member_lookups_.empty()) PrefetchMembers(data);
  if (!list_lookups_.empty()) PrefetchListEnds(data);
  return resolved_;
}

// These loops do nothing but prefetch. A prefetch may wait for the translation of its address, and meanwhile the
// processor executes only the next few hundred instructions: these should be the next prefetches, not the hashing of a
// key.
void Prefetcher::PrefetchKeys(const Database& data) {
  for (const KeyLookup& lookup : key_lookups_)
    lookup.may_insert ? data.PrefetchForInsert(lookup.hash) : data.PrefetchBucket(lookup.hash);
  for (const KeyLookup& lookup : key_lookups_) data.PrefetchEntry(lookup.hash);
}

void Prefetcher::PrefetchMembers(const Database& data) {
  member_hints_.clear();
  Bytes last_key;
  const Entry* entry = nullptr;
  for (const MemberLookup& lookup : member_lookups_) {
    if (lookup.key.data() != last_key.data()) entry = data.Find(lookup.key, lookup.key_hash);
    last_key = lookup.key;
    if (entry != nullptr) member_hints_.emplace_back(*entry, lookup.member);
  }
  for (const MemberHint& hint : member_hints_) hint.PrefetchBucket();
  for (const MemberHint& hint : member_hints_) hint.PrefetchMember();
}

void Prefetcher::PrefetchListEnds(const Database& data) {
  list_hints_.clear();
  for (const ListLookup& lookup : list_lookups_) {
    const Entry* entry = data.Find(lookup.key, lookup.key_hash);
    if (entry != nullptr) list_hints_.emplace_back(*entry, lookup.end);
  }
  for (const ListHint& hint : list_hints_) hint.PrefetchChunk();
  for (const ListHint& hint : list_hints_) hint.PrefetchBlock();
  for (const ListHint& hint : list_hints_) hint.PrefetchElement();
}

}  // namespace respite
