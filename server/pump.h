// Pump: runs what a session has sent.
//
// It parses the waiting requests in groups and has their data fetched into the cache before it executes them.
#pragma once

#include <cstdint>

#include "protocol/request_parser.h"
#include "server/prefetcher.h"
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

  explicit Pump(Server& server) : server_(server), prefetcher_(server) {}

  // Executes the requests that are in session.in. Leaves the parser parked.
  Outcome Run(Session& session);

 private:
  static constexpr size_t kShareOfTurn = 1024;  // requests of one session per Turn
  // Once requests took so long in a Turn, each session gets one more, and the rest waits for the next Turn: many
  // clients with long pipelines of slow commands hold up the others no longer than this.
  static constexpr int64_t kTurnMs = 4;

  Outcome RunGroups(Session& session);
  Outcome RunGroup(Session& session);
  bool RunPostponed(Session& session);
  RequestParser::Status ParseGroup(Session& session);
  void NoteTurn();
  bool IsTurnLong() const { return server_.executor().NowMs() - turn_began_ms_ >= kTurnMs; }
  void FailProtocol(Session& session);

  Server& server_;
  uint64_t turn_ = UINT64_MAX;  // none yet
  int64_t turn_began_ms_ = 0;  // or rather, its first request
  RequestBatch batch_;
  Prefetcher prefetcher_;
};

}  // namespace respite
