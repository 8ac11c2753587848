#include "server/process/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "server/net/socket_address.h"

namespace respite {

Supervisor::Supervisor(Supervision wanted, Logger& log) : log_(log) {
  const bool detects = wanted == Supervision::kAutoDetect;
  if (wanted == Supervision::kUpstart || (detects && std::getenv("UPSTART_JOB") != nullptr)) {
    if (detects) log_.Verbose("Upstart supervision detected.");
    BeginUpstartSupervision();
  } else if (wanted == Supervision::kSystemd || (detects && std::getenv("NOTIFY_SOCKET") != nullptr)) {
    if (detects) log_.Verbose("Systemd supervision detected.");
    BeginSystemdSupervision();
  }
}

void Supervisor::BeginUpstartSupervision() {
  if (std::getenv("UPSTART_JOB") == nullptr) {
    log_.Warning("upstart supervision requested, but UPSTART_JOB not found!");
    return;
  }
  log_.Notice("supervised by upstart, will stop to signal readiness.");
  raise(SIGSTOP);
  unsetenv("UPSTART_JOB");
  supervision_ = Supervision::kUpstart;
}

// Tells systemd that the server is loading, and begins to report to it. The log texts avoid the word "error", because
// launchers would take it for a failed start.
void Supervisor::BeginSystemdSupervision() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  if (socket == nullptr) {
    log_.Warning("systemd supervision requested, but NOTIFY_SOCKET not found!");
    return;
  }
  socket_ = socket;
  if (!Notify("STATUS=Redis is loading...\n")) {
    log_.Warning("systemd supervision requested, but nobody listens on NOTIFY_SOCKET!");
    return;
  }
  supervision_ = Supervision::kSystemd;
  log_.Notice(
      "Supervised by systemd. Please make sure you set appropriate values for TimeoutStartSec and TimeoutStopSec in "
      "your service unit.");
}

void Supervisor::ReportReady() const {
  if (supervision_ != Supervision::kSystemd) return;
  Notify("STATUS=Ready to accept connections\n");
  Notify("READY=1\n");
}

void Supervisor::ReportStopping(const std::string& status) const {
  if (supervision_ == Supervision::kSystemd) Notify(status.empty() ? "STOPPING=1\n" : "STATUS=" + status + "\n");
}

bool Supervisor::Notify(std::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  Descriptor sender(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  return sendto(sender.Get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                reinterpret_cast<const sockaddr*>(&address), length) == static_cast<ssize_t>(state.size());
}

}  // namespace respite
