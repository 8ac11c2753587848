#include "server/clients/key_notifications.h"

#include "base/number_text.h"
#include "server/config/settings.h"

namespace respite {

void KeyNotifications::OnEvent(int db, Bytes key, const KeyEvent& event) {
  const uint32_t wanted = settings_.notify_keyspace_events;
  if ((wanted & event.Kind()) == 0 || !pubsub_.HasListeners()) return;
  if ((wanted & kNotifyKeyspace) != 0) Publish("__keyspace@", db, key, event.Name());
  if ((wanted & kNotifyKeyevent) != 0) Publish("__keyevent@", db, event.Name(), key);
}

void KeyNotifications::Publish(Bytes form, int db, Bytes what, Bytes message) {
  channel_.assign(form).append(Bytes(IntegerText(db))).append("__:").append(what);
  pubsub_.Publish(channel_, message);
}

}  // namespace respite
