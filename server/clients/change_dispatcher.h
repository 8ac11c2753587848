// ChangeDispatcher: reports changes of the data to all listeners, in the same order as Redis. It sends key events, such
// as "set", to KeyNotifications for clients, and to KeyEventListeners for components of the server.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/late_bound.h"
#include "server/catalogue/key_event.h"
#include "server/dataset/unit.h"
#include "server/runtime/env.h"

namespace respite {

class BlockedClients;
struct CurrentExecution;
class MigratingKeys;
class PubSub;
struct Settings;
class Tracking;
class WatchedKeys;

// Publishes key events to clients (notify-keyspace-events). Each event is a message on two channels, in this order:
//   __keyspace@<db>__:<key>     <event>
//   __keyevent@<db>__:<event>   <key>
// These messages are sent while the command runs. They are not propagated and not written to the append-only file.
class KeyNotifications {  // publishes keyspace notifications to clients
 public:
  KeyNotifications(PubSub& pubsub, const Settings& settings) : pubsub_(pubsub), settings_(settings) {}

  // Publishes the event if notify-keyspace-events selects it. Cost: one or two comparisons if the event is not
  // selected, or if no client subscribes to channels or patterns.
  void OnEvent(int db, Bytes key, const KeyEvent& event);  // publishes it if notify-keyspace-events selects it

 private:
  void Publish(Bytes prefix, int db, Bytes suffix, Bytes message);  // on the channel PREFIX DB __: SUFFIX

  PubSub& pubsub_;            // sends the messages
  const Settings& settings_;  // values of the directives
  std::string channel_;       // a buffer for channel names, reused to save allocations
};

class KeyEventListener {  // a component that gets all key events, regardless of notify-keyspace-events
 public:
  virtual ~KeyEventListener() = default;
  virtual void OnKeyEvent(int db, Bytes key, const KeyEvent& event) = 0;  // a key was changed, expired …
  // Called before these databases lose all their keys, for example by FLUSHALL. OnKeyEvent is not called for these
  // keys.
  virtual void OnFlush(std::span<const int> dbs) = 0;  // these databases will lose all keys
  // Called after SWAPDB has swapped two databases. OnKeyEvent is not called for the keys of these databases.
  virtual void OnSwap(int db, int other_db) = 0;  // SWAPDB has swapped the databases
};

struct KeyEventListeners {              // the components that get key events; without any, an event costs one branch
  LateBound<KeyEventListener> journal;  // the listener of TEST JOURNAL
  LateBound<KeyEventListener> lint;     // the listener of TEST LINT

  template <class Tell>
  void ForEach(Tell&& tell) const {  // calls tell(KeyEventListener&)
    for (const LateBound<KeyEventListener>* port : {&journal, &lint}) {
      if (*port) tell(**port);
    }
  }
};

class ChangeDispatcher final : public ChangeListener {  // reports changes of keys to blocked clients, WATCH, tracking …
 public:
  struct Parts {  // the objects that ChangeDispatcher uses; its constructor gets them
    const Env& env;
    Tracking& tracking;                            // client-side caching
    BlockedClients& blocked_clients;               // clients in BLPOP, WAIT …
    WatchedKeys& watched_keys;                     // keys of WATCH
    MigratingKeys& migrating_keys;                 // keys that MIGRATE is sending
    KeyNotifications& key_notifications;           // publishes key events to clients
    const KeyEventListeners& key_event_listeners;  // the listeners of TEST JOURNAL and TEST LINT
    const CurrentExecution& current_execution;     // the command that runs now
  };
  explicit ChangeDispatcher(const Parts& parts) : parts_(parts) {}

  void OnChange(int db, Bytes key) override;  // tells MIGRATE, WATCH, blocked clients and tracking
  void OnEvent(int db, Bytes key, const KeyEvent& event) override;  // publishes it to clients, and tells the listeners
  void OnWake(int db, Bytes key) override;  // a consumer group was removed: wakes the clients that wait for the key
  void OnFlush(std::span<const int> dbs) override;  // these databases will lose all keys
  void OnSwap(int db, int other_db) override;       // SWAPDB has swapped the databases

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
