// Pump: runs what a session has sent.
//
// It parses the waiting requests in groups, asks memory for the buckets and entries they will need, and then executes
// them: the cache misses of a pipeline overlap instead of following each other.
#pragma once

#include <cstdint>

#include "datatypes/member_hint.h"
#include "protocol/request_parser.h"
#include "server/server.h"

namespace respite {

class Pump {
 public:
  enum class Outcome : uint8_t {
    kIdle,       // everything that was there is done
    kMore,       // the session had its share of this Turn; call again in the next
    kPostponed,  // held back by CLIENT PAUSE, or waits for a key
    kClosing,    // the session is finished, or will be when its output is sent
  };

  explicit Pump(Server& server) : server_(server) {}

  // Executes the requests that are in session.in. Leaves the parser parked.
  Outcome Run(Session& session);

 private:
  static constexpr size_t kGroup = 16;          // requests that are prefetched together
  static constexpr size_t kShareOfTurn = 1024;  // requests of one session per Turn

  Outcome RunGroups(Session& session);
  Outcome RunGroup(Session& session);
  bool RunPostponed(Session& session);
  RequestParser::Status ParseGroup(Session& session);
  void Prefetch(const Session& session);
  void PrefetchMembers(const Database& data);
  void FailProtocol(Session& session);

  Server& server_;
  RequestBatch batch_;
  std::vector<const Command*> commands_;  // of the requests in batch_
  std::vector<uint64_t> hashes_;
  // Requests that look for a member of a collection, as far as one can tell before they run.
  struct MemberLookup {
    Bytes key;
    Bytes member;
    uint64_t key_hash;
  };
  std::vector<MemberLookup> lookups_;
  std::vector<MemberHint> hints_;
};

}  // namespace respite
