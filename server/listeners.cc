#include "server/listeners.h"

#include "server/server.h"

namespace respite {

void Listeners::OnChange(int db, Bytes key) {
  if (!server_.watched_keys().Empty()) server_.watched_keys().OnChange(db, key);
  if (!server_.waiting().Empty()) server_.waiting().OnChange(db, key);
  if (!server_.tracking().Empty()) server_.tracking().OnChange(key);
}

void Listeners::OnEvent(int db, Bytes key, KeyEvent event) {
  if (server_.settings().notify_keyspace_events != 0) server_.key_notifications().OnEvent(db, key, event);
}

void Listeners::OnWake(int db, Bytes key) {
  if (!server_.waiting().Empty()) server_.waiting().OnChange(db, key);
}

void Listeners::OnFlush(std::span<const int> dbs) {
  for (int db : dbs) {
    server_.watched_keys().OnFlush(db);
    server_.waiting().OnFlush(db);
  }
  server_.tracking().OnFlush();
}

void Listeners::OnSwap(int one, int other) {
  server_.watched_keys().OnSwap(one, other, server_.executor().WallMs());
  server_.waiting().OnSwap(one, other);
}

}  // namespace respite
