// ChangeDispatcher: reports changes to all listeners, in Redis' order. Two of them get only key events:
// KeyNotifications for clients, and KeyEventPorts for components of the server.
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

// Publishes key events (notify-keyspace-events). Each event is a message on two channels, in this order:
//   __keyspace@<db>__:<key>     <event>
//   __keyevent@<db>__:<event>   <key>
// Messages are sent while the command runs. They are not propagated and not written to the append-only file.
class KeyNotifications {
 public:
  KeyNotifications(PubSub& pubsub, const Settings& settings) : pubsub_(pubsub), settings_(settings) {}

  // Publishes this event if notify-keyspace-events selects it. Cost: one test if no event is enabled or there are no
  // subscribers.
  void OnEvent(int db, Bytes key, const KeyEvent& event);

 private:
  void Publish(Bytes form, int db, Bytes what, Bytes message);

  PubSub& pubsub_;
  const Settings& settings_;
  std::string channel_;  // reused to save allocations
};

// Receives key events in the server, regardless of notify-keyspace-events.
class KeyEventListener {
 public:
  virtual ~KeyEventListener() = default;
  virtual void OnKeyEvent(int db, Bytes key, const KeyEvent& event) = 0;
  // Called before these databases lose all their keys. No events for the single keys follow.
  virtual void OnFlush(std::span<const int> dbs) = 0;
  // Called after SWAPDB. No events for the single keys follow.
  virtual void OnSwap(int one, int other) = 0;
};

// A port has at most one listener, so each listening component has its own port. A port without a listener costs one
// branch per event.
struct KeyEventPorts {
  LateBound<KeyEventListener> journal;
  LateBound<KeyEventListener> lint;

  // Calls tell(KeyEventListener&).
  template <class Tell>
  void ForEach(Tell&& tell) const {
    for (const LateBound<KeyEventListener>* port : {&journal, &lint}) {
      if (*port) tell(**port);
    }
  }
};

class ChangeDispatcher final : public ChangeListener {
 public:
  struct Parts {
    const Env& env;
    Tracking& tracking;
    BlockedClients& blocked_clients;
    WatchedKeys& watched_keys;
    MigratingKeys& migrating_keys;
    KeyNotifications& key_notifications;
    const KeyEventPorts& key_event_ports;
    const CurrentExecution& current_execution;
  };
  explicit ChangeDispatcher(const Parts& parts) : parts_(parts) {}

  void OnChange(int db, Bytes key) override;
  void OnEvent(int db, Bytes key, const KeyEvent& event) override;
  void OnWake(int db, Bytes key) override;
  void OnFlush(std::span<const int> dbs) override;
  void OnSwap(int one, int other) override;

 private:
  const Parts parts_;
};

}  // namespace respite
