// ClientSubsystem: the clients of a Node, their users, and all that delivers messages to them or lets them wait.
// ClientCleanup removes a session from all of these.
#pragma once

#include <cstddef>

#include "base/late_bound.h"
#include "server/clients/acl/acl_log.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/change_dispatcher.h"
#include "server/clients/client_faults.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/migrating_keys.h"
#include "server/clients/pause.h"
#include "server/clients/pubsub.h"
#include "server/clients/role.h"
#include "server/clients/session.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"
#include "server/dataset/data_subsystem.h"
#include "server/runtime/env.h"

namespace respite {

// Removes the traces of a closed session: subscriptions, waits, watched and tracked keys.
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

struct ClientSubsystem {
  ClientSubsystem(const Env& env, DataSubsystem& data, const HashKey& hash_key);
  ClientSubsystem(const ClientSubsystem&) = delete;
  ClientSubsystem& operator=(const ClientSubsystem&) = delete;

  LateBound<RequestRunner> runner;  // ExecutionSubsystem attaches its Executor
  CurrentExecution current_execution;
  Role role;
  WatchedKeys watched_keys;
  MigratingKeys migrating_keys;
  BlockedClients blocked;
  Tracking tracking;
  KeyEventPorts key_event_ports;
  ChangeDispatcher changes;
  Users users;
  AclLog acl_log;
  Permissions permissions;
  PubSub pubsub;  // declared before the sessions, which unsubscribe when they are destroyed
  KeyNotifications key_notifications;
  Clients registry;
  TimerFrequency timer_frequency;
  ClientLimits limits;
  ClientMemory memory;
  PushMessages messages;
  ClientCleanup cleanup;
  Pause pause;
  ClientFaults faults;
  RemovalRule expiry_rule;
  RemovalRule eviction_rule;
};

}  // namespace respite
