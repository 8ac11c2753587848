// ClientLimits: closes clients that idle too long, send too much at once or never read their replies.
#pragma once

#include <cstdint>

#include "server/session.h"

namespace respite {

class Server;

class ClientLimits {
 public:
  explicit ClientLimits(Server& server) : server_(server) {}

  // All limits of one session. Cost: O(1).
  void Check(Session& session, int64_t now_ms);
  // client-output-buffer-limit; to be asked whenever a reply is queued that nobody may read. True: the session is
  // closed.
  bool CheckOutput(Session& session, int64_t now_ms);
  // client-query-buffer-limit. True: the session is closed.
  bool CheckInput(Session& session);

 private:
  bool CheckIdle(Session& session, int64_t now_ms);

  Server& server_;
};

}  // namespace respite
