// Prefetcher: finds the commands of a group of requests, and prefetches their data into the CPU cache: hash table
// buckets, entries and members. So the cache misses of several requests overlap instead of following each other.
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

class Prefetcher {  // fetches the data of several requests into the CPU cache before they run
 public:
  static constexpr size_t kMaxGroupRequests = 16;  // largest number of requests that are prefetched together

  struct Parts {               // the objects that Prefetcher uses; its constructor gets them
    const Keyspace& keyspace;  // all databases
    const Executor& executor;  // runs requests
  };
  explicit Prefetcher(const Parts& parts) : parts_(parts) {}

  struct ResolvedRequest {   // the command and the first key of one request
    const Command* command;  // null if there is no such command
    HashedText key;          // the first key, if its hash was computed
  };
  // Finds the commands of all requests, and prefetches the data of their first keys in the database `db`. A single
  // request is not prefetched. The result is valid until the next call.
  const std::vector<ResolvedRequest>& Resolve(const RequestBatch& batch, int db);  // finds commands and prefetches keys

 private:
  struct KeyLookup {  // a key to be prefetched; several requests in a row for the same key have one KeyLookup
    uint64_t hash;
    bool may_insert;  // true: the first of these commands may add the key
  };
  struct ListLookup {  // an end of a list, to be prefetched because a request will probably use it
    Bytes key;
    ListEnd end;
    uint64_t key_hash;  // hash of `key`
    bool operator==(const ListLookup&) const = default;
  };
  struct MemberLookup {  // a member of a collection, to be prefetched because a request will look it up
    Bytes key;           // requests that repeat a key share one text
    Bytes member;        // the member to find
    uint64_t key_hash;   // hash of `key`
  };

  void PrefetchKeys(const Database& data);      // prefetches the buckets and entries of key_lookups_
  void PrefetchMembers(const Database& data);   // prefetches the members in member_lookups_
  void PrefetchListEnds(const Database& data);  // prefetches the ends of lists in list_lookups_

  const Parts parts_;                         // the objects that the constructor got
  std::vector<ResolvedRequest> resolved_;     // command and first key of each request of the batch
  std::vector<KeyLookup> key_lookups_;        // keys to prefetch
  std::vector<MemberLookup> member_lookups_;  // members of collections to prefetch
  std::vector<MemberHint> member_hints_;      // where in memory the members of member_lookups_ may be
  std::vector<ListLookup> list_lookups_;      // ends of lists to prefetch (push and pop commands)
  std::vector<ListHint> list_hints_;          // addresses of the list ends in list_lookups_
};

}  // namespace respite
