// Prefetcher: finds the commands of a group of requests and asks memory for the buckets, entries and members they will
// need, so that their cache misses overlap instead of following each other.
#pragma once

#include <cstdint>
#include <vector>

#include "datatypes/database.h"
#include "datatypes/list_hint.h"
#include "datatypes/member_hint.h"
#include "protocol/request_parser.h"

namespace respite {

struct Command;
class Executor;
class Keyspace;

class Prefetcher {
 public:
  static constexpr size_t kGroup = 16;  // the most requests of a group

  struct Parts {
    const Keyspace& keyspace;
    const Executor& executor;
  };
  explicit Prefetcher(const Parts& parts) : parts_(parts) {}

  struct Resolved {
    const Command* command;  // null: there is none
    HashedText key;          // the first key, if it was looked for
  };
  // Finds out what each request of the batch needs, assuming that all are for this database. Valid until the next call.
  const std::vector<Resolved>& Resolve(const RequestBatch& batch, int db);

 private:
  // Requests that use an end of a list, as far as one can tell before they run.
  struct ListLookup {
    Bytes key;
    ListEnd end;
    uint64_t key_hash;
  };
  // Requests that look for a member of a collection.
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
