#include "server/commands/data/set_options.h"

#include <array>

#include "base/digest.h"
#include "server/catalogue/dialect.h"
#include "server/commands/common_arguments.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kDigestLength[] = "ERR must be exactly 16 hexadecimal characters";

}  // namespace
}  // namespace refusals

namespace {

constexpr size_t kDigestDigits = 16;

class SetOptionsParser {
 public:
  explicit SetOptionsParser(Args& args, const Call* call = nullptr) : args_(args), call_(call) {}
  SetOptionsParser(Args& args, const SetOptions& options) : args_(args), call_(nullptr), options_(options) {}

  SetOptions ParseSet() {
    while (!args_.AtEnd()) {
      if (!TakeCondition() && !TakeComparison() && !TakeGet() && !TakeExpiry("KEEPTTL", ExpiryOption::kKeep) &&
          !TakeTime()) {
        Fail();
      }
    }
    return options_;
  }
  SetOptions ParseMSetEx() {
    while (!args_.AtEnd()) {
      if (!TakeCondition() && !TakeExpiry("KEEPTTL", ExpiryOption::kKeep) && !TakeTime()) Fail();
    }
    return options_;
  }
  SetOptions ParseGetEx() {
    while (!args_.AtEnd()) {
      if (!TakeGetEx()) Fail();
    }
    return options_;
  }
  bool TakeGetEx() { return TakeExpiry("PERSIST", ExpiryOption::kPersist) || TakeTime(); }
  const SetOptions& Options() const { return options_; }

 private:
  [[noreturn]] static void Fail() { throw Refusal{refusals::kSyntax}; }

  bool TakeCondition() {
    return TakeCondition("NX", SetCondition::kIfAbsent) || TakeCondition("XX", SetCondition::kIfPresent);
  }
  bool TakeCondition(Bytes token, SetCondition condition) {
    if (options_.condition != SetCondition::kAlways && options_.condition != condition) return false;
    if (options_.comparison.kind != ValueCondition::Kind::kNone && !CombinesComparisons()) return false;
    if (!args_.TakeToken(token)) return false;
    options_.condition = condition;
    return true;
  }
  // In Redis, NX and XX may follow IFEQ, and IFEQ may be repeated; the last one counts. In Valkey, none of these
  // options may follow IFEQ.
  bool CombinesComparisons() const {
    return call_->services.env.dialect.traits.comparisons_combine || call_->unit.IsReplaying();
  }
  bool TakeComparison() {
    if (options_.condition != SetCondition::kAlways || args_.Left() < 2) return false;
    const ValueCondition::Kind before = options_.comparison.kind;
    if (before != ValueCondition::Kind::kNone && !CombinesComparisons()) return false;
    const ValueCondition::Kind kind = TakeValueConditionKind(args_);
    if (kind == ValueCondition::Kind::kNone) return false;
    if (before != ValueCondition::Kind::kNone && before != kind) Fail();
    options_.comparison = {kind, args_.Next()};
    return true;
  }
  bool TakeGet() {
    if (!args_.TakeToken("GET")) return false;
    options_.returns_old = true;
    return true;
  }
  // As in Redis, the same kind of expiry option (such as EX) may be repeated, and the last one counts. Different kinds
  // cannot be combined.
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
  const Call* const call_;  // null for GETEX, which has no conditions
  SetOptions options_;
};

}  // namespace

ValueCondition::Kind TakeValueConditionKind(Args& args) {
  using Kind = ValueCondition::Kind;
  if (args.TakeToken("IFEQ")) return Kind::kEqual;
  if (args.TakeToken("IFNE")) return Kind::kNotEqual;
  if (args.TakeToken("IFDEQ")) return Kind::kDigestEqual;
  return args.TakeToken("IFDNE") ? Kind::kDigestNotEqual : Kind::kNone;
}

std::string DigestText(const Entry& entry) {
  const uint64_t digest = Xxh3(StringText(entry).View());
  std::array<uint8_t, sizeof digest> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(digest >> (8 * (bytes.size() - 1 - i)));
  return HexText(bytes);
}

bool ValueCondition::IsFulfilledBy(const Entry* entry) const {
  const bool wants_equal = kind == Kind::kEqual || kind == Kind::kDigestEqual;
  if (kind == Kind::kNone) return true;
  if (entry == nullptr) return !wants_equal;
  if (kind == Kind::kEqual || kind == Kind::kNotEqual) return (StringText(*entry).View() == operand) == wants_equal;
  CheckDigest();
  return EqualsIgnoreCase(DigestText(*entry), operand) == wants_equal;
}

void ValueCondition::CheckDigest() const {
  const bool is_digest = kind == Kind::kDigestEqual || kind == Kind::kDigestNotEqual;
  if (is_digest && operand.size() != kDigestDigits) throw Refusal{refusals::kDigestLength};
}

// Parses the options of SET. Removes the comparison (IFEQ …) of a replayed command, because it was true when the
// command first ran. Refuses NX together with GET if the emulated version does so.
SetOptions ParseSetOptions(Call& call) {
  SetOptions options = SetOptionsParser(call.args, &call).ParseSet();
  if (call.unit.IsReplaying()) options.comparison = {};
  const bool gets_and_tests =
      options.returns_old && options.condition == SetCondition::kIfAbsent && !call.unit.IsReplaying();
  if (gets_and_tests && !call.services.env.dialect.traits.set_nx_may_get) throw Refusal{refusals::kSyntax};
  return options;
}

SetOptions ParseMSetExOptions(Call& call) { return SetOptionsParser(call.args, &call).ParseMSetEx(); }

bool TakeGetExOption(Args& args, SetOptions& options) {
  SetOptionsParser parser(args, options);
  if (!parser.TakeGetEx()) return false;
  options = parser.Options();
  return true;
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
