// ClientCleanup: removes the traces of a closed session: subscriptions, waits, watched and tracked keys.
#pragma once

#include <cstddef>

#include "server/clients/blocked_clients.h"
#include "server/clients/client_memory.h"
#include "server/clients/session.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"

namespace respite {

class ClientCleanup {
 public:
  struct Parts {
    BlockedClients& blocked_clients;
    Tracking& tracking;
    WatchedKeys& watched_keys;
    ClientMemory& client_memory;
  };
  explicit ClientCleanup(Parts parts) : parts_(parts) {}

  // Removes a closed session from all lists.
  void Forget(Session& session) {
    session.subscriptions.reset();
    parts_.blocked_clients.Forget(session);
    parts_.tracking.Disable(session);
    parts_.watched_keys.Forget(session);
    parts_.client_memory.Forget(session);
  }
  // Removes watched keys and at most kPerTurn subscriptions of a disconnected session. Returns true when no
  // subscription is left. Requires: the session is not blocked.
  bool LeaveSome(Session& session) {
    parts_.watched_keys.Forget(session);
    if (session.subscriptions != nullptr) session.subscriptions->LeaveSome(kPerTurn);
    return session.subscriptions == nullptr || session.subscriptions->Total() == 0;
  }

 private:
  static constexpr size_t kPerTurn = 1000;

  const Parts parts_;
};

}  // namespace respite
