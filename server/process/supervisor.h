// `supervised`: telling systemd (by datagrams to $NOTIFY_SOCKET) or upstart (by stopping) how far we are.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "server/config/settings.h"

namespace respite {

class Supervisor {
 public:
  // Finds out who supervises. With upstart it returns once upstart lets us go on.
  Supervisor(Supervision wanted, Logger& log);

  // Somebody does: then `daemonize` is not obeyed.
  bool Active() const { return active_ != Supervision::kNone; }

  void Ready() const;
  // The server is about to end; `status` says more about it, unless it is empty.
  void Stopping(const std::string& status) const;

 private:
  bool Notify(std::string_view state) const;
  void StartSystemd();
  void StartUpstart();

  Logger& log_;
  Supervision active_ = Supervision::kNone;
  std::string socket_;  // "/path" or "@abstract"
};

}  // namespace respite
