// Pause: CLIENT PAUSE holds back commands until a time; those who came meanwhile run when it ends.
#pragma once

#include <cstdint>
#include <vector>

#include "server/catalogue/command_table.h"
#include "server/clients/session.h"
#include "server/dataset/timers.h"
#include "server/dataset/unit.h"

namespace respite {

class Pause final : public Timers::Source {
 public:
  enum class Scope : uint8_t { kNone, kWrites, kAll };

  // Until a monotonic time. A longer pause and a wider scope win over what is in force.
  void Start(Scope scope, int64_t until_ms, int64_t now_ms);
  void End() {
    scope_ = Scope::kNone;
    until_ms_ = 0;
  }
  // It ends by itself at its time.
  int64_t NextDueMs() const override { return IsOn() ? until_ms_ : Timers::kNever; }
  void RunDue(int64_t) override { End(); }

  // What commands make of expired keys: while it lasts none is removed, since that would be a write.
  ExpiryRule Rule() const { return IsOn() ? ExpiryRule::kHide : ExpiryRule::kPurge; }
  bool IsOn() const { return scope_ != Scope::kNone; }
  // Whether a command with these flags has to wait.
  bool Holds(uint32_t command_flags) const {
    if (scope_ == Scope::kNone) return false;
    if (scope_ == Scope::kAll) return true;
    return (command_flags & (kWrite | kMayReplicate)) != 0;
  }

  Scope scope() const { return scope_; }
  int64_t until_ms() const { return until_ms_; }

 private:
  Scope scope_ = Scope::kNone;
  int64_t until_ms_ = 0;  // monotonic
};

}  // namespace respite
