// ClientSubsystem: the clients of a Node, their users, and the components that send messages to them or let them wait.
// ClientCleanup removes a closed session from all of these.
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

class ClientCleanup {  // removes a closed session from the lists of all components
 public:
  struct Parts {                      // the objects that ClientCleanup uses; its constructor gets them
    BlockedClients& blocked_clients;  // clients in BLPOP, WAIT …
    Tracking& tracking;               // client-side caching
    WatchedKeys& watched_keys;        // keys that clients WATCH
    ClientMemory& client_memory;      // maxmemory-clients
  };
  explicit ClientCleanup(Parts parts) : parts_(parts) {}

  void Forget(Session& session) {  // removes a closed session from all lists
    session.subscriptions.reset();
    parts_.blocked_clients.Forget(session);
    parts_.tracking.Disable(session);
    parts_.watched_keys.Forget(session);
    parts_.client_memory.Forget(session);
  }
  // Unwatches all keys and ends up to kMaxUnsubscribesPerTurn subscriptions of a closed session.
  bool UnsubscribeSome(Session& session) {  // part of the cleanup; true: no subscription is left
    parts_.watched_keys.Forget(session);
    if (session.subscriptions != nullptr) session.subscriptions->UnsubscribeSome(kMaxUnsubscribesPerTurn);
    return session.subscriptions == nullptr || session.subscriptions->TotalCount() == 0;
  }

 private:
  static constexpr size_t kMaxUnsubscribesPerTurn = 1000;  // how many UnsubscribeSome ends at most

  const Parts parts_;  // the objects that the constructor got
};

struct ClientSubsystem {  // all components that deal with clients
  ClientSubsystem(const Env& env, DataSubsystem& data, const HashKey& hash_key);
  ClientSubsystem(const ClientSubsystem&) = delete;
  ClientSubsystem& operator=(const ClientSubsystem&) = delete;

  LateBound<RequestRunner> runner;     // runs blocked requests again: the Executor, which ExecutionSubsystem attaches
  CurrentExecution current_execution;  // the command that runs now
  Role role;                           // primary or replica
  WatchedKeys watched_keys;            // keys that clients WATCH
  MigratingKeys migrating_keys;        // keys that MIGRATE is sending
  BlockedClients blocked;              // clients in BLPOP, XREAD BLOCK, WAIT …
  Tracking tracking;                   // client-side caching
  KeyEventListeners key_event_listeners;  // listeners of TEST JOURNAL and TEST LINT
  ChangeDispatcher changes;               // tells all components of changed keys
  Users users;                            // all ACL users
  AclLog acl_log;                         // refused requests and failed logins (ACL LOG)
  Permissions permissions;                // checks what users may do
  PubSub pubsub;                          // subscriptions; outlives the sessions, which unsubscribe at the end
  KeyNotifications key_notifications;     // publishes key events to clients
  Clients registry;                       // owns all sessions
  TimerFrequency timer_frequency;         // hz, adapted to the number of clients
  ClientLimits limits;                    // closes clients that exceed limits
  ClientMemory memory;                    // closes the largest clients above maxmemory-clients
  PushSender messages;                    // sends publications and invalidations
  ClientCleanup cleanup;                  // removes closed sessions from all lists
  Pause pause;                            // CLIENT PAUSE
  ClientFaults faults;                    // what TEST FAULT does to clients
  KeyRemovalRule expiry_rule;             // says whether expired keys may be removed now
  KeyRemovalRule eviction_rule;           // says whether keys may be evicted now
};

}  // namespace respite
