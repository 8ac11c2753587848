// SentinelMode: makes this server a Sentinel if it was started as one. In any other server, SentinelMode does nothing
// and costs nothing.
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

  // Starts to watch. Requires: this server was started as a Sentinel, CheckSentinelFile found no error, and the server
  // listens.
  void Start(ProgramStarter& programs);  // starts to watch the primaries of sentinel.conf
  void ConnectToAll();                   // connects to all instances immediately; does nothing before Start
  void Close();                          // closes the links; called before the event loop is destroyed

  Sentinel* sentinel() const { return sentinel_.get(); }  // null if this server is not a Sentinel

  // The functions of Timers::Source.
  int64_t NextDueMs() const override { return next_tick_ms_; }  // when the next tick is due (clock time)
  void RunDue(int64_t now_ms) override;                         // ticks, and chooses when the next tick is due
  std::string NextDueText() const override { return "the Sentinel looks at its instances"; }  // what RunDue does

 private:
  const Services& services_;    // the other parts of this server
  const uint64_t random_seed_;  // seed for random ids and delays
  std::unique_ptr<ServerSentinelHost> host_;
  std::unique_ptr<Sentinel> sentinel_;     // null if this server is not a Sentinel
  int64_t next_tick_ms_ = Timers::kNever;  // when the next tick is due (clock time)
};

class Config;
// CheckSentinelLines and CheckSentinelFile return why a Sentinel cannot start with this configuration: a wrong line, no
// configuration file, a file that is not writable, or cluster-enabled. They return nothing if the Sentinel can start.
std::optional<StartupError> CheckSentinelLines(const Config& config);  // a wrong `sentinel` line; nothing: none
std::optional<StartupError> CheckSentinelFile(const Config& config);   // e.g. an unusable file; nothing: no trouble

}  // namespace respite
