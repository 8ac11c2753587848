// KeyNotifications: tells subscribers what happens to keys (notify-keyspace-events).
//
// Each event is a message on two channels, in this order:
//   __keyspace@<db>__:<key>     <event>
//   __keyevent@<db>__:<event>   <key>
// Messages are sent while the command runs and are no effect of it: they stand in no journal.
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

  // Cost: one test when nobody wants to know, or nobody listens to anything.
  void OnEvent(int db, Bytes key, KeyEvent event);

 private:
  void Publish(Bytes form, int db, Bytes what, Bytes message);

  PubSub& pubsub_;
  const Settings& settings_;
  std::string channel_;  // the name of the last one; kept for its room
};

}  // namespace respite
