// ClientSubsystem: the clients of a Node, their users, and the components that send messages to clients or let them
// wait. When a session closes, ClientCleanup removes it from most of these components.
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

class ClientCleanup {  // removes a session that closes from BlockedClients, PubSub, Tracking, WatchedKeys …
 public:
  struct Parts {                      // the objects that ClientCleanup uses; its constructor gets them
    BlockedClients& blocked_clients;  // clients that wait in BLPOP, WAIT …
    Tracking& tracking;               // client-side caching (CLIENT TRACKING)
    WatchedKeys& watched_keys;        // keys that clients WATCH
    ClientMemory& client_memory;      // measures and limits clients' memory (maxmemory-clients)
  };
  explicit ClientCleanup(Parts parts) : parts_(parts) {}

  void Forget(Session& session) {  // ends waits, subscriptions, tracking and WATCH of a session that closes
    session.subscriptions.reset();
    parts_.blocked_clients.Forget(session);
    parts_.tracking.Disable(session);
    parts_.watched_keys.Forget(session);
    parts_.client_memory.Forget(session);
  }
  // Unwatches all keys of a session that will be closed, and ends at most kMaxUnsubscribesPerTurn of its subscriptions.
  // Returns true if no subscription is left.
  bool CleanUpSome(Session& session) {  // unwatches all keys, ends up to 1000 subscriptions; true: none is left
    parts_.watched_keys.Forget(session);
    if (session.subscriptions != nullptr) session.subscriptions->UnsubscribeSome(kMaxUnsubscribesPerTurn);
    return session.subscriptions == nullptr || session.subscriptions->TotalCount() == 0;
  }

 private:
  static constexpr size_t kMaxUnsubscribesPerTurn = 1000;  // subscriptions that one call ends at most

  const Parts parts_;  // the objects that the constructor got
};

struct ClientSubsystem {  // all components that deal with clients
  ClientSubsystem(const Env& env, DataSubsystem& data, const HashKey& hash_key);
  ClientSubsystem(const ClientSubsystem&) = delete;
  ClientSubsystem& operator=(const ClientSubsystem&) = delete;

  LateBound<RequestRunner> runner;        // the Executor, which ExecutionSubsystem attaches: reruns blocked requests
  CurrentExecution current_execution;     // the command that runs now
  Role role;                              // whether this server is a primary or a replica
  WatchedKeys watched_keys;               // keys that clients WATCH
  MigratingKeys migrating_keys;           // keys that MIGRATE is sending to another server
  BlockedClients blocked;                 // clients that wait in BLPOP, XREAD BLOCK, WAIT …
  Tracking tracking;                      // client-side caching: sends invalidations (CLIENT TRACKING)
  KeyEventListeners key_event_listeners;  // TEST JOURNAL and TEST LINT, which get each keyspace event
  ChangeDispatcher change_dispatcher;     // tells WATCH, blocked clients, tracking … of each change of the data
  Users users;                            // all ACL users
  AclLog acl_log;                         // the log of refused requests and failed logins (ACL LOG)
  Permissions permissions;                // checks whether users may run requests
  PubSub pubsub;                       // channels and subscribers; destroyed after the sessions, which unsubscribe then
  KeyNotifications key_notifications;  // publishes keyspace notifications
  Clients registry;                    // owns the sessions of all clients
  TimerFrequency timer_frequency;      // timer ticks per second (hz), adapted to the number of clients
  ClientLimits limits;                 // closes clients that are idle, or exceed limits of input or output
  ClientMemory memory;                 // closes the largest clients above maxmemory-clients
  PushSender messages;                 // sends messages and invalidations to clients
  ClientCleanup cleanup;               // removes a session that closes from these components
  Pause pause;                         // CLIENT PAUSE, and pauses of writes by the server itself
  ClientFaults faults;                 // applies TEST FAULT to clients: delays requests and replies
  KeyRemovalRule expiry_rule;          // says whether expired keys may be removed now
  KeyRemovalRule eviction_rule;        // says whether keys may be evicted now
};

}  // namespace respite
