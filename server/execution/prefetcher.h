// Prefetcher: resolves the commands of a group of requests, and prefetches the buckets, entries and members that they
// need. So their cache misses overlap instead of following each other.
#pragma once

#include <cstdint>
#include <vector>

#include "datatypes/collection_hints.h"
#include "datatypes/database.h"
#include "protocol/request_parser.h"

namespace respite {

struct Command;
class Executor;
class Keyspace;

class Prefetcher {  // fetches the data of several requests into the cache before they run
 public:
  static constexpr size_t kMaxGroupRequests = 16;  // requests that are prefetched together

  struct Parts {  // the objects that it uses
    const Keyspace& keyspace;
    const Executor& executor;
  };
  explicit Prefetcher(const Parts& parts) : parts_(parts) {}

  struct Resolved {          // the command of one request
    const Command* command;  // null if there is no such command
    HashedText key;          // the first key, if its hash was computed
  };
  // All requests use this database. The result is valid until the next call.
  const std::vector<Resolved>& Resolve(const RequestBatch& batch, int db);  // finds commands and prefetches keys

 private:
  struct ListLookup {  // a request that probably uses an end of a list
    Bytes key;
    ListEnd end;
    uint64_t key_hash;
  };
  struct MemberLookup {  // a request that looks up a member of a collection
    Bytes key;
    Bytes member;
    uint64_t key_hash;
  };

  void PrefetchMembers(const Database& data);   // of lookups_
  void PrefetchListEnds(const Database& data);  // of list_lookups_

  const Parts parts_;                     // the objects that it uses
  std::vector<Resolved> resolved_;        // one for each request of the batch
  std::vector<uint64_t> hashes_;          // of the keys to prefetch
  std::vector<MemberLookup> lookups_;     // members to prefetch
  std::vector<MemberHint> hints_;         // found entries of lookups_
  std::vector<ListLookup> list_lookups_;  // ends of lists to prefetch
  std::vector<ListHint> list_hints_;      // found entries of list_lookups_
};

}  // namespace respite
