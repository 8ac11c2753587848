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

  // Requires: this server was started as a Sentinel, CheckSentinelLines and CheckSentinelFile found no error, and the
  // server listens.
  void Start(ProgramStarter& programs);  // starts to watch the primaries of sentinel.conf
  void ConnectToAll();                   // ticks now, which connects to all instances; does nothing before Start
  void Close();                          // destroys the Sentinel with its links, before the event loop is destroyed

  Sentinel* sentinel() const { return sentinel_.get(); }  // null: not a Sentinel, or not started

  // The functions of Timers::Source.
  int64_t NextDueMs() const override { return next_tick_ms_; }  // when the next tick is due (clock time)
  void RunDue(int64_t now_ms) override;                         // ticks, and chooses when the next tick is due
  std::string NextDueText() const override { return "the Sentinel looks at its instances"; }  // what RunDue does

 private:
  const Services& services_;    // the other parts of this server
  const uint64_t random_seed_;  // seed for random ids and delays
  std::unique_ptr<ServerSentinelHost> host_;
  std::unique_ptr<Sentinel> sentinel_;     // null: not a Sentinel, or not started
  int64_t next_tick_ms_ = Timers::kNever;  // when the next tick is due (clock time)
};

class Config;
// CheckSentinelLines and CheckSentinelFile return why a Sentinel cannot start. They return nullopt if it can.
std::optional<StartupError> CheckSentinelLines(const Config& config);  // checks the `sentinel` lines; nullopt: valid
std::optional<StartupError> CheckSentinelFile(const Config& config);   // error: no writable file, or in cluster mode

}  // namespace respite
