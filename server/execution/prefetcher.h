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

class Prefetcher {
 public:
  static constexpr size_t kGroup = 16;  // maximum number of requests

  struct Parts {
    const Keyspace& keyspace;
    const Executor& executor;
  };
  explicit Prefetcher(const Parts& parts) : parts_(parts) {}

  struct Resolved {
    const Command* command;  // null if there is no such command
    HashedText key;          // the first key, if its hash was computed
  };
  // Resolves each request of the batch, assuming that all use this database. The result is valid until the next call.
  const std::vector<Resolved>& Resolve(const RequestBatch& batch, int db);

 private:
  // A request that probably uses an end of a list.
  struct ListLookup {
    Bytes key;
    ListEnd end;
    uint64_t key_hash;
  };
  // A request that looks up a member of a collection.
  struct MemberLookup {
    Bytes key;
    Bytes member;
    uint64_t key_hash;
  };

  void FetchMembers(const Database& data);
  void FetchEnds(const Database& data);

  const Parts parts_;
  std::vector<Resolved> resolved_;
  std::vector<uint64_t> hashes_;
  std::vector<MemberLookup> lookups_;
  std::vector<MemberHint> hints_;
  std::vector<ListLookup> list_lookups_;
  std::vector<ListHint> list_hints_;
};

}  // namespace respite
