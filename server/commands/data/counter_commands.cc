#include <cmath>
#include <string>

#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kDecrementOverflow[] = "ERR decrement would overflow";

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

constexpr auto kCounterCommands = Family<Decr, DecrBy, Incr, IncrBy, IncrByFloat>();

}  // namespace

std::span<const CommandCard> CounterCommands() { return kCounterCommands; }

}  // namespace respite
