#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "server/commands/common_arguments.h"
#include "server/commands/data/set_options.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kDecrementOverflow[] = "ERR decrement would overflow";
constexpr char kBoundsCrossed[] = "ERR LBOUND must be less than or equal to UBOUND";

}  // namespace
}  // namespace refusals

namespace {

int64_t IntegerOf(const Entry* entry) {
  if (entry == nullptr) return 0;
  if (entry->Form() == ValueForm::kInt) return entry->IntegerValue();
  return Args::Integer(StringText(*entry).View());
}

void AddToCounter(Call& call, Bytes key, int64_t delta) {
  KeyEdit number = call.db.OpenString(key);
  int64_t sum = 0;
  if (__builtin_add_overflow(IntegerOf(number.entry()), delta, &sum)) throw Refusal{refusals::kOverflow};
  const bool is_integer = number && number->Form() == ValueForm::kInt;
  is_integer ? number.SetInteger(sum) : number.Assign(StringContent::Integer(sum));
  number.ReportChange("incrby");
  call.reply.Integer(sum);
}

struct Incr {
  static constexpr CommandSpec spec = {.syntax = "INCR key",
                                       .summary = "Adds one to the integer at a key; an absent key counts as 0.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) { AddToCounter(call, call.args.Next(), 1); }
};

struct Decr {
  static constexpr CommandSpec spec = {.syntax = "DECR key",
                                       .summary = "Subtracts one from the integer at a key; an absent key counts as 0.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) { AddToCounter(call, call.args.Next(), -1); }
};

struct IncrBy {
  static constexpr CommandSpec spec = {.syntax = "INCRBY key increment:integer",
                                       .summary = "Adds a number to the integer at a key; an absent key counts as 0.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, delta] = call.args.Take<Bytes, int64_t>();
    AddToCounter(call, key, delta);
  }
};

struct DecrBy {
  static constexpr CommandSpec spec = {
      .syntax = "DECRBY key decrement:integer",
      .summary = "Subtracts a number from the integer at a key; an absent key counts as 0.",
      .since = "1.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kString,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, delta] = call.args.Take<Bytes, int64_t>();
    if (delta == INT64_MIN) throw Refusal{refusals::kDecrementOverflow};
    AddToCounter(call, key, -delta);
  }
};

long double ParseCounterFloat(Bytes text) {
  const auto value = ParseLongDouble(text);
  if (!value) throw Refusal{refusals::kNotFloat};
  return *value;
}

struct IncrByFloat {
  static constexpr CommandSpec spec = {
      .syntax = "INCRBYFLOAT key increment:double",
      .summary = "Adds a floating point number to the one at a key; an absent key counts as 0.",
      .since = "2.6.0",
      .complexity = "O(1)",
      .group = CommandGroup::kString,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, delta] = call.args.Take<Bytes, Bytes>();
    KeyEdit number = call.db.OpenString(key);
    const long double old = number ? ParseCounterFloat(StringText(*number).View()) : 0;
    const long double sum = old + ParseCounterFloat(delta);
    if (!std::isfinite(sum)) throw Refusal{refusals::kNanOrInfinity};
    const std::string text = LongDoubleText(sum);
    number.Assign(StringContent::Text(text));
    number.ReportChange("incrbyfloat");
    call.effect.Replace("SET", key, text, "KEEPTTL");
    call.reply.Bulk(text);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// INCREX

struct IncrExOptions {                    // the arguments of INCREX after the key
  bool is_float = false;                  // BYFLOAT
  Bytes increment = "1";                  // of BYINT or BYFLOAT
  std::optional<Bytes> lower_bound = {};  // LBOUND
  std::optional<Bytes> upper_bound = {};  // UBOUND
  bool saturates = false;                 // SATURATE: a result out of bounds becomes the bound
  bool keeps_expiry = false;              // ENX: sets the expiry only of a key that has none
  SetOptions expiry = {};                 // EX, PX, EXAT, PXAT or PERSIST
};

IncrExOptions ParseIncrEx(Args& args) {
  IncrExOptions options;
  bool has_increment = false;
  while (!args.AtEnd()) {
    const bool by_float = !has_increment && args.TakeTokenWith("BYFLOAT", 1);
    if (by_float || (!has_increment && args.TakeTokenWith("BYINT", 1))) {
      has_increment = true;
      options.is_float = by_float;
      options.increment = args.Next();
    } else if (args.TakeTokenWith("LBOUND", 1)) {
      options.lower_bound = args.Next();
    } else if (args.TakeTokenWith("UBOUND", 1)) {
      options.upper_bound = args.Next();
    } else if (args.TakeToken("SATURATE")) {
      options.saturates = true;
    } else if (args.TakeToken("ENX")) {
      options.keeps_expiry = true;
    } else if (!TakeGetExOption(args, options.expiry)) {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (options.keeps_expiry && !options.expiry.HasTime()) throw Refusal{refusals::kSyntax};
  return options;
}

// What INCREX has computed, for integers (`Number` is int64_t) or for floats (long double).
template <class Number>
struct BoundedSum {
  Number result;     // the new value, or the old one if the sum was out of bounds
  Number increment;  // what was added
  bool is_applied;   // false: the sum was out of bounds, and nothing changes
};

BoundedSum<int64_t> AddBounded(int64_t old, const IncrExOptions& options) {
  __extension__ using Wide = __int128;
  const int64_t delta = Args::Integer(options.increment);
  const int64_t low = options.lower_bound ? Args::Integer(*options.lower_bound) : INT64_MIN;
  const int64_t high = options.upper_bound ? Args::Integer(*options.upper_bound) : INT64_MAX;
  if (low > high) throw Refusal{refusals::kBoundsCrossed};
  const Wide sum = Wide{old} + delta;
  const Wide bounded = std::clamp<Wide>(sum, low, high);
  if (bounded == sum) return {static_cast<int64_t>(sum), delta, true};
  if (!options.saturates) return {old, 0, false};
  const Wide added = bounded - old;
  if (added < INT64_MIN || added > INT64_MAX) throw Refusal{refusals::kOverflow};
  return {static_cast<int64_t>(bounded), static_cast<int64_t>(added), true};
}

BoundedSum<long double> AddBounded(long double old, const IncrExOptions& options) {
  constexpr long double kMax = std::numeric_limits<long double>::max();
  const long double delta = ParseCounterFloat(options.increment);
  const long double low = options.lower_bound ? ParseCounterFloat(*options.lower_bound) : -kMax;
  const long double high = options.upper_bound ? ParseCounterFloat(*options.upper_bound) : kMax;
  if (low > high) throw Refusal{refusals::kBoundsCrossed};
  const long double sum = old + delta;
  if (std::isnan(sum)) throw Refusal{refusals::kNanOrInfinity};
  const long double bounded = std::clamp(sum, low, high);
  if (bounded == sum) return {sum, delta, true};
  if (!options.saturates) return {old, 0, false};
  if (!std::isfinite(bounded - old)) throw Refusal{refusals::kNanOrInfinity};
  return {bounded, bounded - old, true};
}

void ReplyNumber(Call& call, int64_t number) { call.reply.Integer(number); }
void ReplyNumber(Call& call, long double number) {
  call.reply.IsResp3() ? call.reply.Double(static_cast<double>(number)) : call.reply.Bulk(LongDoubleText(number));
}

// Ends INCREX: sets or removes the deadline (with ENX, an old deadline stays), and propagates the command as SET with
// the new value and deadline. If the new deadline (EXAT, PXAT) has passed, deletes the key instead.
void FinishIncrEx(Call& call, KeyEdit& number, const IncrExOptions& options, int64_t deadline_ms) {
  number.ReportChange(options.is_float ? KeyEvent("incrbyfloat") : KeyEvent("incrby"));
  const bool had_deadline = number->Deadline() != kNoDeadline;
  if (options.expiry.HasTime() && !(options.keeps_expiry && had_deadline)) {
    if (options.expiry.IsAbsolute() && call.HasPassed(deadline_ms)) return DeleteAsExpired(call, number);
    number.SetDeadline(deadline_ms);
    number.ReportChangeUncounted("expire");
  } else if (options.expiry.expiry == ExpiryOption::kPersist && had_deadline) {
    number.SetDeadline(kNoDeadline);
    number.ReportChangeUncounted("persist");
  }
  const std::string text(StringText(*number).View());
  const int64_t deadline = number->Deadline();
  deadline == kNoDeadline ? call.effect.Replace("SET", number.Key(), text)
                          : call.effect.Replace("SET", number.Key(), text, "PXAT", deadline);
}

struct IncrEx {
  static constexpr CommandSpec spec = {
      .syntax =
          "INCREX key [increment(BYFLOAT float:double|BYINT integer:integer)] [SATURATE] [LBOUND lowerbound] [UBOUND "
          "upperbound] [expiration(EX seconds:integer|PX milliseconds:integer|EXAT unix-time-seconds:unix-time|PXAT "
          "unix-time-milliseconds:unix-time|PERSIST)] [ENX]",
      .summary = "Adds a number to the one at a key, within bounds, and can set the expiry; an absent key counts as 0.",
      .since = "8.8.0,valkey:9.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kString,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const IncrExOptions options = ParseIncrEx(call.args);
    const int64_t deadline_ms = DeadlineOf(call, options.expiry);
    KeyEdit number = call.db.OpenString(key);
    if (options.is_float) {
      const long double old = number ? ParseCounterFloat(StringText(*number).View()) : 0;
      const BoundedSum<long double> sum = AddBounded(old, options);
      Reply(call, sum);
      if (!sum.is_applied) return;
      number.Assign(StringContent::Text(LongDoubleText(sum.result)));
    } else {
      const BoundedSum<int64_t> sum = AddBounded(IntegerOf(number.entry()), options);
      Reply(call, sum);
      if (!sum.is_applied) return;
      number.Assign(StringContent::Integer(sum.result));
    }
    FinishIncrEx(call, number, options, deadline_ms);
  }

 private:
  template <class Number>
  static void Reply(Call& call, const BoundedSum<Number>& sum) {
    call.reply.Array(2);
    ReplyNumber(call, sum.result);
    ReplyNumber(call, sum.increment);
  }
};

constexpr auto kCounterCommands = Family<Decr, DecrBy, Incr, IncrBy, IncrByFloat, IncrEx>();

}  // namespace

std::span<const CommandCard> CounterCommands() { return kCounterCommands; }

}  // namespace respite
