// SentinelMode: makes this server a Sentinel if it was started as one. Otherwise it does nothing, and costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/late_bound.h"
#include "server/config/config_text.h"
#include "server/runtime/timers.h"

namespace respite {

class ProgramStarter;
class Sentinel;
class ServerSentinelHost;
struct Services;

class SentinelMode final : public Timers::Source {  // makes this server a Sentinel if it was started as one
 public:
  SentinelMode(const Services& services, uint64_t random_seed);
  ~SentinelMode() override;
  SentinelMode(const SentinelMode&) = delete;
  SentinelMode& operator=(const SentinelMode&) = delete;

  // Starts to watch. Requires: started as a Sentinel, CheckSentinelFile found no error, and the server listens.
  void Start(ProgramStarter& programs);
  void ConnectToAll();  // with a tick, immediately. Does nothing before Start
  void Close();         // closes the links; called before the event loop is destroyed

  Sentinel* sentinel() const { return sentinel_.get(); }  // null if this server is not a Sentinel

  // Timers::Source
  int64_t NextDueMs() const override { return next_tick_ms_; }
  void RunDue(int64_t now_ms) override;
  std::string NextDueText() const override { return "the Sentinel looks at its instances"; }

 private:
  const Services& services_;
  const uint64_t random_seed_;
  std::unique_ptr<ServerSentinelHost> host_;
  std::unique_ptr<Sentinel> sentinel_;
  int64_t next_tick_ms_ = Timers::kNever;
};

// CheckSentinelLines and CheckSentinelFile return why a Sentinel cannot start with this configuration: a wrong line, or
// a file that is not writable.
class Config;
std::optional<StartupError> CheckSentinelLines(const Config& config);
std::optional<StartupError> CheckSentinelFile(const Config& config);

}  // namespace respite
