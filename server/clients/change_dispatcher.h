// ChangeDispatcher: reports changes to all listeners, in Redis' order.
#pragma once

#include "server/dataset/unit.h"
#include "server/runtime/env.h"

namespace respite {

struct KeyEventPorts;
class KeyNotifications;
class MigratingKeys;
struct CurrentExecution;
struct Settings;
class Tracking;
class BlockedClients;
class WatchedKeys;

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
