#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/clock.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/config/config.h"
#include "server/config/named_traits.h"
#include "server/config/settings.h"
#include "server/config/usage.h"
#include "server/execution/services.h"
#include "server/net/tls/tls.h"
#include "server/observe/identity.h"
#include "server/observe/info/sections.h"
#include "server/storage/shutdown.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

Bytes SupervisionName(Supervision supervision) {
  switch (supervision) {
    case Supervision::kNone:
      return "no";
    case Supervision::kSystemd:
      return "systemd";
    case Supervision::kUpstart:
      return "upstart";
    case Supervision::kAutoDetect:
      break;
  }
  if (getenv("NOTIFY_SOCKET") != nullptr) return "systemd";
  return getenv("UPSTART_JOB") != nullptr ? "upstart" : "no";
}

Bytes ModeName(const Services& services) {
  if (services.env.config.mode() == ServerMode::kSentinel) return "sentinel";
  return services.env.settings.cluster_enabled ? "cluster" : "standalone";
}

std::string OperatingSystem() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string ExecutablePath() {
  std::string path(PATH_MAX, '\0');
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return path;
}

std::string CompilerVersion() { return StrCat(__GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__); }

void AddTcpListener(InfoText& text, const Settings& settings, Bytes field, Bytes protocol, int port) {
  if (port == 0) return;
  std::string value = "name=" + std::string(protocol);
  for (const std::string& address : settings.bind) value += ",bind=" + address;
  text.Add(field, StrCat(value, ",port=", port));
}

void AddValkey(InfoText& text, const Services& services) {
  const DialectTraits& traits = services.env.dialect.traits;
  if (traits.valkey_version.empty()) return;
  text.Add("server_name", "valkey")
      .Add("valkey_version", traits.valkey_version)
      .Add("valkey_release_stage", "ga")
      .Add("availability_zone", "");
}

void AddListeners(InfoText& text, const Settings& settings) {
  AddTcpListener(text, settings, "listener0", "tcp", settings.bound_port);
  if (!settings.unixsocket.empty()) text.Add("listener1", "name=unix,bind=" + settings.unixsocket);
  AddTcpListener(text, settings, "listener2", "tls", settings.tls_port);
}

}  // namespace

std::string ServerSection(const Services& services) {
  const Settings& settings = services.env.settings;
  const int64_t wall_us = services.env.clock.WallUs();
  const int64_t uptime_s = (services.env.clock.MonotonicMs() - services.identity.started_ms) / 1000;
  InfoText text("Server");
  text.Add("redis_version", services.env.dialect.traits.redis_version);
  AddValkey(text, services);
  text.Add("respite_version", kRespiteVersion)
      .Add("redis_git_sha1", "00000000")
      .Add("redis_git_dirty", 0)
      .Add("redis_build_id", BuildId())
      .Add(TraitsWithProductNames(settings).mode_field, ModeName(services))
      .Add("os", OperatingSystem())
      .Add("arch_bits", 8 * sizeof(void*))
      .Add("monotonic_clock", "POSIX clock_gettime")
      .Add("multiplexing_api", "epoll")
      .Add("atomicvar_api", "c11-builtin")
      .Add("gcc_version", CompilerVersion())
      .Add("process_id", getpid())
      .Add("process_supervised", SupervisionName(settings.supervised))
      .Add("run_id", services.identity.run_id)
      .Add("tcp_port", settings.MainPort())
      .Add("server_time_usec", wall_us)
      .Add("uptime_in_seconds", uptime_s)
      .Add("uptime_in_days", uptime_s / (24 * 3600))
      .Add("hz", services.clients.timer_frequency.Hz())
      .Add("configured_hz", settings.hz)
      .Add("clients_hz", services.clients.timer_frequency.Hz())
      .Add("lru_clock", (wall_us / 1'000'000) & 0xffffff)
      .Add("executable", ExecutablePath())
      .Add("config_file", services.env.config.file())
      .Add("io_threads_active", 0);
  if (const auto left_ms = services.storage.shutdown.MillisecondsLeftForReplicas())
    text.Add("shutdown_in_milliseconds", *left_ms);
  if (!settings.availability_zone.empty()) text.Add("availability_zone", settings.availability_zone);
  AddListeners(text, settings);
  return text.Take();
}

std::string TlsSection(const Services& services) {
  const int64_t now_s = services.env.clock.WallMs() / 1000;
  const TlsCertificates& certificates = services.tls.Certificates(services.env.settings);
  InfoText text("TLS");
  const auto add = [&](const std::string& kind, const CertificateFacts& facts) {
    text.Add("tls_" + kind + "_cert_serial", facts.serial);
    text.Add("tls_" + kind + "_cert_expires_in_seconds", std::max<int64_t>(facts.expires_at_s - now_s, 0));
  };
  add("server", certificates.server);
  add("client", certificates.client);
  add("ca", certificates.ca);
  return text.Take();
}

}  // namespace respite
