// Pause: CLIENT PAUSE, which pauses commands until a given time, and the pauses of writes by the server itself.
// KeyRemovalRule: says whether keys may expire or be evicted now; during a pause, for example, they may not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/catalogue/command_table.h"
#include "server/clients/role.h"
#include "server/clients/session.h"
#include "server/dataset/expiry.h"
#include "server/dataset/unit.h"
#include "server/runtime/env.h"
#include "server/runtime/timers.h"

namespace respite {

class Pause final : public Timers::Source {  // CLIENT PAUSE, and pauses of writes by the server itself
 public:
  enum class Scope : uint8_t { kNone, kWrites, kAll };  // which commands CLIENT PAUSE pauses

  // Starts CLIENT PAUSE. If CLIENT PAUSE is already active, the new pause ends no earlier and pauses no fewer commands.
  void Start(Scope scope, int64_t until_ms, int64_t now_ms);  // starts CLIENT PAUSE; never shortens an active one
  void End() {                                                // ends CLIENT PAUSE now
    scope_ = Scope::kNone;
    until_ms_ = 0;
  }
  // The parts of the server that may pause writes. The pause by such a part lasts until the same part resumes writes.
  // CLIENT PAUSE and CLIENT UNPAUSE do not change it.
  enum Owner : uint8_t { kFailover = 1, kShutdown = 2, kCluster = 4, kSlotMigration = 8 };  // bits
  void PauseWrites(Owner owner) { pausing_owners_ |= owner; }  // commands that write wait until ResumeWrites
  void ResumeWrites(Owner owner) { pausing_owners_ &= static_cast<uint8_t>(~owner); }  // ends the pause by `owner`
  bool IsPausedBy(Owner owner) const { return (pausing_owners_ & owner) != 0; }  // true: `owner` pauses writes now
  int64_t NextDueMs() const override {  // monotonic clock time when CLIENT PAUSE ends, or kNever
    return scope_ != Scope::kNone ? until_ms_ : Timers::kNever;
  }
  void RunDue(int64_t) override { End(); }  // ends CLIENT PAUSE when its time has passed
  std::string NextDueText() const override { return "CLIENT PAUSE ends"; }  // what happens at NextDueMs

  // Returns what to do with expired keys and fields. During a pause they are hidden but not removed, because a removal
  // would be a write.
  ExpiryRule Rule() const { return IsOn() ? ExpiryRule::kHide : ExpiryRule::kPurge; }  // what to do with expired keys
  bool IsOn() const { return scope_ != Scope::kNone || pausing_owners_ != 0; }         // true: some pause is active now
  // Returns whether a command with these flags must wait. A pause of writes also pauses commands with kMayReplicate,
  // such as PUBLISH. Ignores pauses by the parts in `ignored_owners` (Owner bits).
  bool PausesCommand(uint32_t command_flags, uint8_t ignored_owners = 0) const {  // true: must wait now
    if (scope_ == Scope::kNone && (pausing_owners_ & ~ignored_owners) == 0) return false;
    if (scope_ == Scope::kAll) return true;
    return (command_flags & (kWrite | kMayReplicate)) != 0;
  }

  std::string_view Reason() const;                // why commands pause, for INFO: "client_pause" … "none"
  Scope scope() const { return scope_; }          // which commands CLIENT PAUSE pauses now
  int64_t until_ms() const { return until_ms_; }  // monotonic clock time when CLIENT PAUSE ends; 0: no pause

 private:
  Scope scope_ = Scope::kNone;  // which commands CLIENT PAUSE pauses now
  uint8_t pausing_owners_ = 0;  // the parts of the server that pause writes now, as Owner bits
  int64_t until_ms_ = 0;        // monotonic clock time when CLIENT PAUSE ends; 0: no pause
};

// Decides whether keys may expire or be evicted now. kLater: a slow script or loading is in progress. kNo: clients or
// writes are paused, this is a primary with import-mode, or the server has stopped. A replica answers kNo as well,
// except for evictions with replica-ignore-maxmemory no (kYesHere).
class KeyRemovalRule final : public KeyRemovalPermission {  // may keys expire or be evicted now? (pause, role, loading)
 public:
  // The kind of removal that the rule decides on. kExpiry: removal of expired keys, which a replica leaves to its
  // primary. kEviction: eviction because of maxmemory, which a replica does only if replica-ignore-maxmemory is `no`.
  enum class Cause : uint8_t { kExpiry, kEviction };  // why keys would be removed
  struct Parts {                                      // the objects that KeyRemovalRule uses; its constructor gets them
    const Env& env;
    const Pause& pause;  // CLIENT PAUSE, and pauses of writes by the server
    const Role& role;    // whether this server is a primary or a replica
    Cause cause;         // what the rule decides about: expiry or eviction
  };
  explicit KeyRemovalRule(Parts parts) : parts_(parts) {}

  Answer Now() const override;  // whether keys may be removed now: yes, no or later

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
