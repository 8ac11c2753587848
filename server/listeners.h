// Listeners: all who hear of changes, in the order in which Redis tells them.
#pragma once

#include "server/unit.h"

namespace respite {

class Server;

class Listeners final : public ChangeListener {
 public:
  explicit Listeners(Server& server) : server_(server) {}

  void OnChange(int db, Bytes key) override;
  void OnEvent(int db, Bytes key, KeyEvent event) override;
  void OnWake(int db, Bytes key) override;
  void OnFlush(std::span<const int> dbs) override;
  void OnSwap(int one, int other) override;

 private:
  Server& server_;
};

}  // namespace respite
