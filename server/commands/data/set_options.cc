#include "server/commands/data/set_options.h"

#include "server/catalogue/dialect.h"
#include "server/commands/common_arguments.h"
#include "server/execution/services.h"

namespace respite {

namespace {

class SetOptionsParser {
 public:
  // If `unit` replays a replication stream or a file, the value of IFEQ is parsed but not compared.
  explicit SetOptionsParser(Args& args, const Unit* unit = nullptr)
      : args_(args), repeats_(unit && unit->IsReplaying()) {}

  SetOptions ParseSet() {
    while (!args_.AtEnd()) {
      if (!TakeCondition() && !TakeComparison() && !TakeGet() && !TakeExpiry("KEEPTTL", ExpiryOption::kKeep) &&
          !TakeTime()) {
        Fail();
      }
    }
    return options_;
  }
  SetOptions ParseGetEx() {
    while (!args_.AtEnd()) {
      if (!TakeExpiry("PERSIST", ExpiryOption::kPersist) && !TakeTime()) Fail();
    }
    return options_;
  }

 private:
  [[noreturn]] static void Fail() { throw Refusal{refusals::kSyntax}; }

  bool TakeCondition() {
    return TakeCondition("NX", SetCondition::kIfAbsent) || TakeCondition("XX", SetCondition::kIfPresent);
  }
  bool TakeCondition(Bytes token, SetCondition condition) {
    if (options_.condition != SetCondition::kAlways && options_.condition != condition) return false;
    if (!args_.TakeToken(token)) return false;
    options_.condition = condition;
    return true;
  }
  // Takes IFEQ, which unlike NX and XX may not be repeated. A replayed command has succeeded before, so its IFEQ is not
  // a condition.
  bool TakeComparison() {
    if (options_.condition != SetCondition::kAlways || !args_.TakeTokenWith("IFEQ", 1)) return false;
    options_.expected = args_.Next();
    if (!repeats_) options_.condition = SetCondition::kIfEqual;
    return true;
  }
  bool TakeGet() {
    if (!args_.TakeToken("GET")) return false;
    options_.returns_old = true;
    return true;
  }
  // As in Redis, the same kind of option may be repeated, and the last one counts. Different kinds cannot be combined.
  bool MayBe(ExpiryOption option) const { return options_.expiry == ExpiryOption::kNone || options_.expiry == option; }
  bool TakeExpiry(Bytes token, ExpiryOption option) {
    if (!MayBe(option) || !args_.TakeToken(token)) return false;
    options_.expiry = option;
    return true;
  }
  bool TakeTime() {
    return TakeTime("EX", ExpiryOption::kSeconds) || TakeTime("PX", ExpiryOption::kMilliseconds) ||
           TakeTime("EXAT", ExpiryOption::kUnixSeconds) || TakeTime("PXAT", ExpiryOption::kUnixMilliseconds);
  }
  bool TakeTime(Bytes token, ExpiryOption option) {
    if (!MayBe(option) || !args_.TakeTokenWith(token, 1)) return false;
    options_.expiry = option;
    options_.time = args_.Next();
    return true;
  }

  Args& args_;
  const bool repeats_;
  SetOptions options_;
};

}  // namespace

SetOptions ParseSetOptions(Call& call) {
  const SetOptions options = SetOptionsParser(call.args, &call.unit).ParseSet();
  const bool gets_and_tests = options.returns_old && options.condition == SetCondition::kIfAbsent;
  if (gets_and_tests && !call.services.env.dialect.traits.set_nx_may_get) throw Refusal{refusals::kSyntax};
  return options;
}

SetOptions ParseGetExOptions(Args& args) { return SetOptionsParser(args).ParseGetEx(); }

int64_t DeadlineOf(const Call& call, const SetOptions& options) {
  if (!options.HasTime()) return kNoDeadline;
  int64_t deadline_ms = Args::Integer(options.time);
  bool in_seconds = options.expiry == ExpiryOption::kSeconds || options.expiry == ExpiryOption::kUnixSeconds;
  bool valid = deadline_ms > 0;
  valid = valid && !__builtin_mul_overflow(deadline_ms, in_seconds ? 1000 : 1, &deadline_ms);
  valid = valid && !__builtin_add_overflow(deadline_ms, options.IsAbsolute() ? 0 : call.now_ms, &deadline_ms);
  if (!valid) throw refusals::InvalidExpireOf(call);
  return deadline_ms;
}

}  // namespace respite
