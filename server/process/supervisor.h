// `supervised`: reports the server's state to systemd (datagrams to $NOTIFY_SOCKET) or upstart (by stopping itself).
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "server/config/settings.h"

namespace respite {

class Supervisor {  // systemd or upstart
 public:
  // Detects the supervisor. With upstart, returns when upstart continues the process.
  Supervisor(Supervision wanted, Logger& log);

  // Returns whether there is a supervisor. Then `daemonize` is ignored.
  bool HasSupervisor() const { return active_ != Supervision::kNone; }

  void ReportReady() const;  // reports that the server is ready
  // Reports that the server is stopping. A non-empty `status` adds details.
  void ReportStopping(const std::string& status) const;

 private:
  bool Notify(std::string_view state) const;  // sends a datagram to systemd
  void StartSystemd();                        // finds its socket
  void StartUpstart();                        // stops this process until upstart continues it

  Logger& log_;
  Supervision active_ = Supervision::kNone;  // the detected supervisor
  std::string socket_;                       // "/path" or "@abstract"
};

}  // namespace respite
