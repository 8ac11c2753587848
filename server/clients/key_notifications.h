// KeyNotifications: publishes key events (notify-keyspace-events).
//
// Each event is a message on two channels, in this order:
//   __keyspace@<db>__:<key>     <event>
//   __keyevent@<db>__:<event>   <key>
// Messages are sent while the command runs. They are not propagated and not written to the append-only file.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "server/catalogue/key_event.h"
#include "server/clients/pubsub.h"

namespace respite {

struct Settings;

class KeyNotifications {
 public:
  KeyNotifications(PubSub& pubsub, const Settings& settings) : pubsub_(pubsub), settings_(settings) {}

  // Cost: one test if no event is enabled or there are no subscribers.
  void OnEvent(int db, Bytes key, const KeyEvent& event);

 private:
  void Publish(Bytes form, int db, Bytes what, Bytes message);

  PubSub& pubsub_;
  const Settings& settings_;
  std::string channel_;  // reused to save allocations
};

}  // namespace respite
