// Pause: CLIENT PAUSE postpones commands until a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/catalogue/command_table.h"
#include "server/clients/session.h"
#include "server/dataset/unit.h"
#include "server/runtime/timers.h"

namespace respite {

class Pause final : public Timers::Source {
 public:
  enum class Scope : uint8_t { kNone, kWrites, kAll };

  // Pauses until a monotonic time. A running pause is never shortened or narrowed.
  void Start(Scope scope, int64_t until_ms, int64_t now_ms);
  void End() {
    scope_ = Scope::kNone;
    until_ms_ = 0;
  }
  // Holds writes back until the same owner releases them, whatever clients ask for.
  enum Owner : uint8_t { kFailover = 1, kShutdown = 2, kCluster = 4, kSlotMigration = 8 };  // bits
  void PauseWrites(Owner owner) { holders_ |= owner; }
  void ResumeWrites(Owner owner) { holders_ &= static_cast<uint8_t>(~owner); }
  // It ends by itself at its time.
  int64_t NextDueMs() const override { return scope_ != Scope::kNone ? until_ms_ : Timers::kNever; }
  void RunDue(int64_t) override { End(); }
  std::string WhatIsDue() const override { return "CLIENT PAUSE ends"; }

  // How commands treat expired keys: a pause hides them without removal, which would be a write.
  ExpiryRule Rule() const { return IsOn() ? ExpiryRule::kHide : ExpiryRule::kPurge; }
  bool IsOn() const { return scope_ != Scope::kNone || holders_ != 0; }
  // Whether a command with these flags has to wait, when what `ignored` (Owner bits) holds back does not matter.
  bool Affects(uint32_t command_flags, uint8_t ignored = 0) const {
    if (scope_ == Scope::kNone && (holders_ & ~ignored) == 0) return false;
    if (scope_ == Scope::kAll) return true;
    return (command_flags & (kWrite | kMayReplicate)) != 0;
  }

  // "client_pause", "shutdown_in_progress", "failover_in_progress"; "none" if it is not on.
  std::string_view Reason() const;
  Scope scope() const { return scope_; }
  int64_t until_ms() const { return until_ms_; }

 private:
  Scope scope_ = Scope::kNone;
  uint8_t holders_ = 0;   // Owner bits
  int64_t until_ms_ = 0;  // monotonic
};

}  // namespace respite
