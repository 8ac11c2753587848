// ChangeDispatcher: reports changes of the data to the parts of the server that need them, in the order of Redis.
// KeyNotifications publishes key events, such as "set", to clients. A KeyEventListener is an interface by which another
// part of the server gets key events.
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
// A subkey event names the fields of a hash that a command has changed. Its messages follow those of the event, in this
// order. FIELDS is a list such as `5:first,6:second`, in which the length in bytes precedes each field:
//   __subkeyspace@<db>__:<key>               <event>|FIELDS
//   __subkeyevent@<db>__:<event>             <key length>:<key>|FIELDS
//   __subkeyspaceitem@<db>__:<key>\n<field>  <event>                     (a message per field)
//   __subkeyspaceevent@<db>__:<event>|<key>  FIELDS
// These messages are sent while the command runs. They are not propagated and not written to the append-only file.
class KeyNotifications {  // publishes keyspace notifications (notify-keyspace-events)
 public:
  KeyNotifications(PubSub& pubsub, const Settings& settings) : pubsub_(pubsub), settings_(settings) {}

  // Publishes the event if notify-keyspace-events selects it. Cost: one or two comparisons if the event is not
  // selected, or if no client subscribes to channels or patterns.
  void OnEvent(int db, Bytes key, const KeyEvent& event);  // publishes the event, if the configuration selects it
  bool WantsSubkeys() const;  // true: subkey events are configured, and a client has a subscription
  // Publishes that the event concerned these fields of a hash, on the channels that the configuration selects. Letters
  // for classes of events, such as `h` (hashes), do not matter for these messages.
  void OnSubkeys(int db, Bytes key, const KeyEvent& event, const Subkeys& fields);  // publishes the subkey events

 private:
  void Publish(Bytes prefix, int db, Bytes suffix, Bytes message);  // publishes on <prefix><db>__:<suffix>

  PubSub& pubsub_;            // delivers the notifications to the subscribers
  const Settings& settings_;  // values of the directives
  std::string channel_;       // a buffer for names of channels, reused to save allocations
};

class KeyEventListener {  // interface of a component of the server that gets key events (see OnKeyEvent)
 public:
  virtual ~KeyEventListener() = default;
  // Called for all events except "overwritten" and "type_changed".
  virtual void OnKeyEvent(int db, Bytes key, const KeyEvent& event) = 0;  // `key` was set, has expired, is missing …
  // Called before these databases lose all their keys, for example by FLUSHALL. OnKeyEvent is not called for these
  // keys.
  virtual void OnFlush(std::span<const int> dbs) = 0;  // called before these databases lose all their keys
  // Called after SWAPDB has swapped two databases. OnKeyEvent is not called for the keys of these databases.
  virtual void OnSwap(int db, int other_db) = 0;  // called after SWAPDB has swapped two databases
};

struct KeyEventListeners {              // the parts of the server that get key events, if attached
  LateBound<KeyEventListener> journal;  // the request journal, which TEST JOURNAL turns on
  LateBound<KeyEventListener> lint;     // the checks of clients' requests, which TEST LINT turns on

  template <class Tell>
  void ForEach(Tell&& tell) const {  // calls tell(KeyEventListener&) for each listener that is attached
    for (const LateBound<KeyEventListener>* port : {&journal, &lint}) {
      if (*port) tell(**port);
    }
  }
};

class ChangeDispatcher final : public ChangeListener {  // passes changes of the data on to WATCH, blocked clients …
 public:
  struct Parts {  // the objects that ChangeDispatcher uses; its constructor gets them
    const Env& env;
    Tracking& tracking;                            // client-side caching: sends invalidations (CLIENT TRACKING)
    BlockedClients& blocked_clients;               // clients that wait in BLPOP, WAIT …
    WatchedKeys& watched_keys;                     // keys that clients WATCH
    MigratingKeys& migrating_keys;                 // keys that MIGRATE is sending to another server
    KeyNotifications& key_notifications;           // publishes keyspace notifications
    const KeyEventListeners& key_event_listeners;  // the journal (TEST JOURNAL) and TEST LINT
    const CurrentExecution& current_execution;     // the command that runs now
  };
  explicit ChangeDispatcher(const Parts& parts) : parts_(parts) {}

  void OnChange(int db, Bytes key) override;  // a key was changed: tells MIGRATE, WATCH, blocked clients and tracking
  void OnEvent(int db, Bytes key, const KeyEvent& event) override;  // publishes; tells TEST JOURNAL and LINT of most
  bool WantsSubkeys() const override { return parts_.key_notifications.WantsSubkeys(); }  // clients get subkey events
  void OnSubkeys(int db, Bytes key, const KeyEvent& event, const Subkeys& fields) override {  // publishes the fields
    parts_.key_notifications.OnSubkeys(db, key, event, fields);
  }
  void OnWake(int db, Bytes key) override;  // a consumer group of the stream `key` changed: blocked requests rerun
  void OnFlush(std::span<const int> dbs) override;  // these databases are about to lose all their keys
  void OnSwap(int db, int other_db) override;       // SWAPDB has swapped the two databases

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
