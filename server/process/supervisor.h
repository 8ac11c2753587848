// Supervisor (`supervised`): reports the server's state to systemd (datagrams to $NOTIFY_SOCKET) or upstart (by
// stopping the process until upstart continues it).
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "server/config/settings.h"

namespace respite {

class Supervisor {  // reports the state of the server to systemd or upstart
 public:
  // Begins to report to the supervisor `wanted` (value of the directive `supervised`); kAutoDetect: finds out from
  // environment variables whether it is upstart or systemd. Under upstart (UPSTART_JOB is set), the constructor stops
  // the process with SIGSTOP, and returns when upstart continues the process.
  Supervisor(Supervision wanted, Logger& log);

  // Returns whether systemd or upstart manages this process. If so, the server stays in the foreground even with
  // `daemonize yes`.
  bool HasSupervisor() const { return supervision_ != Supervision::kNone; }  // systemd or upstart manages this process

  void ReportReady() const;  // reports to systemd that the server is ready to serve
  // Reports to systemd that the server is stopping. If `status` is not empty, instead reports this text, which says
  // what the shutdown is doing, or why it has failed.
  void ReportStopping(const std::string& status) const;  // reports that the server stops, or `status` of the shutdown

 private:
  bool Notify(std::string_view state) const;  // sends a datagram to systemd; false: failed
  void BeginSystemdSupervision();             // sends the first status to NOTIFY_SOCKET; if that fails, only warns
  void BeginUpstartSupervision();             // stops this process until upstart continues it

  Logger& log_;
  Supervision supervision_ = Supervision::kNone;  // the supervisor that was found: systemd, upstart or none
  std::string socket_;                            // systemd's notification socket: "/path" or "@abstract"
};

}  // namespace respite
