#include "server/clients/change_dispatcher.h"

#include <utility>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/migrating_keys.h"
#include "server/clients/pubsub.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"
#include "server/config/settings.h"

namespace respite {

void ChangeDispatcher::OnChange(int db, Bytes key) {
  if (!parts_.migrating_keys.IsEmpty()) parts_.migrating_keys.OnChange(db, key);
  if (!parts_.watched_keys.IsEmpty()) parts_.watched_keys.OnChange(db, key);
  if (parts_.blocked_clients.HasAwaitedKeys()) parts_.blocked_clients.OnChange(db, key);
  if (!parts_.tracking.IsEmpty()) parts_.tracking.OnChange(key);
}

void ChangeDispatcher::OnEvent(int db, Bytes key, const KeyEvent& event) {
  if (parts_.env.settings.notify_keyspace_events != 0) parts_.key_notifications.OnEvent(db, key, event);
  if ((event.Kind() & (kNotifyOverwritten | kNotifyTypeChanged)) != 0) return;  // these events are only published
  parts_.key_event_listeners.ForEach([&](KeyEventListener& listener) { listener.OnKeyEvent(db, key, event); });
}

void ChangeDispatcher::OnWake(int db, Bytes key) {
  if (parts_.blocked_clients.HasAwaitedKeys()) parts_.blocked_clients.OnChange(db, key);
}

void ChangeDispatcher::OnFlush(std::span<const int> dbs) {
  for (int db : dbs) {
    parts_.migrating_keys.OnFlush(db);
    parts_.watched_keys.OnFlush(db);
    parts_.blocked_clients.OnFlush(db);
  }
  parts_.tracking.OnFlush();
  parts_.key_event_listeners.ForEach([&](KeyEventListener& listener) { listener.OnFlush(dbs); });
}

void ChangeDispatcher::OnSwap(int db, int other_db) {
  parts_.migrating_keys.OnSwap(db, other_db);
  parts_.watched_keys.OnSwap(db, other_db, parts_.current_execution.WallMs());
  parts_.blocked_clients.OnSwap(db, other_db);
  parts_.key_event_listeners.ForEach([&](KeyEventListener& listener) { listener.OnSwap(db, other_db); });
}

void KeyNotifications::OnEvent(int db, Bytes key, const KeyEvent& event) {
  const uint32_t wanted = settings_.notify_keyspace_events;
  if ((wanted & event.Kind()) == 0 || !pubsub_.HasSubscriptions()) return;
  if ((wanted & kNotifyKeyspace) != 0) Publish("__keyspace@", db, key, event.Name());
  if ((wanted & kNotifyKeyevent) != 0) Publish("__keyevent@", db, event.Name(), key);
}

bool KeyNotifications::WantsSubkeys() const {
  return (settings_.notify_keyspace_events & kNotifySubkeys) != 0 && pubsub_.HasSubscriptions();
}

void KeyNotifications::OnSubkeys(int db, Bytes key, const KeyEvent& event, const Subkeys& fields) {
  const uint32_t wanted = settings_.notify_keyspace_events;
  std::string list;
  const auto append = [&list](Bytes text) {
    list.append(Bytes(IntegerText(static_cast<int64_t>(text.size())))).append(1, ':').append(text);
  };
  fields.ForEach([&](Bytes field) {
    if (!list.empty()) list.append(1, ',');
    append(field);
  });
  const std::string names = std::exchange(list, {});
  if ((wanted & kNotifySubkeyspace) != 0) Publish("__subkeyspace@", db, key, StrCat(event.Name(), "|", names));
  if ((wanted & kNotifySubkeyevent) != 0) {
    append(key);
    Publish("__subkeyevent@", db, event.Name(), StrCat(list, "|", names));
  }
  // A key that contains a line end gets no message __subkeyspaceitem, because a line end separates the key from the
  // field.
  if ((wanted & kNotifySubkeyspaceitem) != 0 && key.find('\n') == Bytes::npos) {
    fields.ForEach([&](Bytes field) { Publish("__subkeyspaceitem@", db, StrCat(key, "\n", field), event.Name()); });
  }
  if ((wanted & kNotifySubkeyspaceevent) != 0) {
    Publish("__subkeyspaceevent@", db, StrCat(event.Name(), "|", key), names);
  }
}

void KeyNotifications::Publish(Bytes prefix, int db, Bytes suffix, Bytes message) {
  channel_.assign(prefix).append(Bytes(IntegerText(db))).append("__:").append(suffix);
  pubsub_.Publish(channel_, message);
}

}  // namespace respite
