#include "server/sentinel/sentinel_mode.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/late_bound.h"
#include "server/config/config.h"
#include "server/execution/services.h"
#include "server/sentinel/sentinel.h"
#include "server/sentinel/server_sentinel_host.h"

namespace respite {

namespace {

// The host of a trial Sentinel, which only reads the lines of sentinel.conf, to find wrong lines before the server is
// made. The trial Sentinel never starts, so this host only resolves names and looks for programs.
class TrialHost final : public SentinelHost {
 public:
  void Publish(Bytes, Bytes) override {}
  std::optional<std::string> Save(const std::vector<SentinelLine>&) override { return std::nullopt; }
  std::optional<std::string> LookUp(const std::string& name) override { return LookUpName(resolver_, name); }
  int64_t WallMs() const override { return 0; }
  int Port() const override { return 0; }
  bool EncryptsLinks() const override { return false; }
  std::string SourceAddress() const override { return {}; }
  std::string Password() const override { return {}; }
  bool MayRun(const std::string& path) const override { return access(path.c_str(), X_OK) == 0; }
  Result<int64_t, int> StartProgram(const std::vector<std::string>&) override { return Failure(int{ENOSYS}); }
  std::optional<ProgramEnd> TakeEndedProgram() override { return std::nullopt; }
  void KillProgram(int64_t) override {}
  void Crash() override {}

 private:
  NameResolver resolver_;
};

}  // namespace

std::optional<StartupError> CheckSentinelLines(const Config& config) {
  const SystemClock clock;
  const SystemRealClock real_clock;
  Logger log(clock);
  log.SetLevel(LogLevel::kNothing);
  const LateBound<Network> nowhere;
  TrialHost host;
  Sentinel trial({.real_clock = real_clock, .log = log, .random_seed = 0, .network = nowhere, .host = host});
  const auto objection = trial.Read(config.lines().sentinel);
  if (!objection) return std::nullopt;
  return FatalConfigError(objection->line, objection->reason);
}

std::optional<StartupError> CheckSentinelFile(const Config& config) {
  if (config.settings().cluster_enabled) return FatalConfigError(nullptr, "A Sentinel is no node of a cluster");
  const std::string& path = config.file();
  if (path.empty()) {
    return StartupError{StartupError::Channel::kLog, "Sentinel needs config file on disk to save state. Exiting..."};
  }
  if (access(path.c_str(), W_OK) == 0) return std::nullopt;
  return StartupError{StartupError::Channel::kLog,
                      "Sentinel config file " + path + " is not writable: " + std::strerror(errno) + ". Exiting..."};
}

SentinelMode::SentinelMode(const Services& services, uint64_t random_seed)
    : services_(services), random_seed_(random_seed) {
  services.env.timers.Add(*this);
}

SentinelMode::~SentinelMode() { Close(); }

void SentinelMode::Close() {
  next_tick_ms_ = Timers::kNever;
  sentinel_.reset();
  host_.reset();
}

void SentinelMode::Start(ProgramStarter& programs) {
  const Services& services = services_;
  host_ = std::make_unique<ServerSentinelHost>(services, programs);
  sentinel_ = std::make_unique<Sentinel>(Sentinel::Parts{.real_clock = services.env.real_clock,
                                                         .log = services.env.log,
                                                         .random_seed = random_seed_,
                                                         .network = services_.env.network,
                                                         .host = *host_});
  if (const auto objection = sentinel_->Read(services.env.config.lines().sentinel)) {
    services.env.log.Warning(objection->reason + " in: " + objection->line->text);  // a name does not resolve now
  }
  sentinel_->Start();
  next_tick_ms_ = services.env.clock.MonotonicMs() + sentinel_->RandomTickMs();
}

void SentinelMode::ConnectToAll() {
  if (sentinel_ != nullptr) sentinel_->Tick();
}

void SentinelMode::RunDue(int64_t now_ms) {
  next_tick_ms_ = now_ms + sentinel_->RandomTickMs();
  sentinel_->Tick();
}

}  // namespace respite
