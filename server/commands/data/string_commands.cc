#include <algorithm>
#include <cstring>
#include <optional>

#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/commands/common_arguments.h"
#include "server/commands/data/lcs.h"
#include "server/commands/data/set_options.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kStringTooLong[] = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
constexpr char kOffsetOutOfRange[] = "ERR offset is out of range";
constexpr char kLcsNotStrings[] = "ERR The specified keys must contain string values";
constexpr char kLcsLenAndIdx[] = "ERR If you want both the length and indexes, please just use IDX.";
constexpr char kLcsTooLong[] = "ERR String too long for LCS";
constexpr char kLcsTableOverLimit[] = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
constexpr char kLcsNoMemory[] = "ERR Insufficient memory, failed allocating transient memory for LCS";

}  // namespace
}  // namespace refusals

namespace {

void ReplyOld(Call& call, const Entry* entry) {
  if (entry == nullptr) return call.reply.Null();
  call.ReplyText(*entry);
}

void CheckTextSize(const Call& call, size_t size, size_t more) {
  size_t total = 0;
  if (__builtin_add_overflow(size, more, &total) || total > call.MaxStringBytes())
    throw Refusal{refusals::kStringTooLong};
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading and storing whole values

struct Get {
  static constexpr CommandSpec spec = {.syntax = "GET key",
                                       .summary = "Returns the string at a key.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyOld(call, call.db.ReadString(call.args.Next())); }
};

enum class Stored : uint8_t { kYes, kNo };

// Implements SET and its variants. Writes a reply only for the option GET. That reply is the old value, whether or not
// the new value is stored. If the new deadline (EXAT, PXAT) has passed, some emulated versions delete the key instead.
Stored Store(Call& call, Bytes key, Bytes value, const SetOptions& options) {
  const int64_t deadline_ms = DeadlineOf(call, options);
  const bool compares = options.comparison.kind != ValueCondition::Kind::kNone;
  KeyEdit text = options.returns_old ? call.db.OpenStringAndCountLookup(key) : call.db.Open(key);
  if (options.returns_old) ReplyOld(call, text.entry());
  if (options.condition == SetCondition::kIfAbsent && text) return Stored::kNo;
  if (options.condition == SetCondition::kIfPresent && !text) return Stored::kNo;
  if (compares) call.db.OpenString(key);  // as in Redis, checks the type after NX and XX
  if (compares && !options.comparison.IsFulfilledBy(text.entry())) return Stored::kNo;
  if (options.IsAbsolute() && call.HasPassed(deadline_ms) &&
      call.services.env.dialect.traits.stores_nothing_with_a_past_deadline) {
    if (text) DeleteAsExpired(call, text);
    return Stored::kYes;
  }

  const std::optional<ValueType> type_before = text ? std::optional(text->Type()) : std::nullopt;
  const bool keeps_deadline = options.expiry == ExpiryOption::kKeep;
  keeps_deadline ? text.Assign(call.Value(value)) : text.Put(call.Value(value), deadline_ms);
  if (type_before) text.ReportOverwrite(*type_before, ValueType::kString);
  text.ReportChange("set");
  if (options.HasTime()) {
    text.ReportChangeUncounted("expire");
    // As in Redis, a SET with PXAT is propagated unchanged, and EX, PX and EXAT become PXAT. A comparison (IFEQ …) is
    // not propagated.
    const bool is_final = options.expiry == ExpiryOption::kUnixMilliseconds && !compares;
    if (!is_final) call.effect.Replace("SET", key, value, "PXAT", deadline_ms);
  } else if (options.returns_old || compares) {
    keeps_deadline ? call.effect.Replace("SET", key, value, "KEEPTTL") : call.effect.Replace("SET", key, value);
  }
  return Stored::kYes;
}

struct SetCommand {
  static constexpr CommandSpec spec = {
      .syntax =
          "SET key value [condition(NX|XX|IFEQ ifeq-value@8.4.0,valkey:8.1.0|IFNE ifne-value@8.4.0|IFDEQ "
          "ifdeq-digest:integer@8.4.0|IFDNE ifdne-digest:integer@8.4.0)@2.6.12] [GET@6.2.0] [expiration(EX "
          "seconds:integer@2.6.12|PX milliseconds:integer@2.6.12|EXAT unix-time-seconds:unix-time@6.2.0|PXAT "
          "unix-time-milliseconds:unix-time@6.2.0|KEEPTTL@6.0.0)]",
      .summary = "Stores a string at a key, whatever the key holds. Options add a condition and an expiry.",
      .since = "1.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kString,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags)},
      .find_keys = KeysOfSet};
  static void Run(Call& call) {
    auto [key, value] = call.args.Take<Bytes, Bytes>();
    const SetOptions options = ParseSetOptions(call);
    const Stored stored = Store(call, key, value, options);
    if (options.returns_old) return;
    stored == Stored::kYes ? call.reply.Ok() : call.reply.Null();
  }
};

struct SetNx {
  static constexpr CommandSpec spec = {.syntax = "SETNX key value",
                                       .summary = "Stores a string at a key that does not exist.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyOW | kKeyInsert)},
                                       .deprecated_since = "2.6.12",
                                       .replaced_by = "`SET` with the `NX` argument"};
  static void Run(Call& call) {
    auto [key, value] = call.args.Take<Bytes, Bytes>();
    const Stored stored = Store(call, key, value, {.condition = SetCondition::kIfAbsent});
    call.reply.Integer(stored == Stored::kYes ? 1 : 0);
  }
};

struct SetEx {
  static constexpr CommandSpec spec = {.syntax = "SETEX key seconds:integer value",
                                       .summary = "Stores a string that expires after some seconds.",
                                       .since = "2.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyOW | kKeyUpdate)},
                                       .deprecated_since = "2.6.12",
                                       .replaced_by = "`SET` with the `EX` argument"};
  static void Run(Call& call) {
    auto [key, seconds, value] = call.args.Take<Bytes, Bytes, Bytes>();
    Store(call, key, value, {.expiry = ExpiryOption::kSeconds, .time = seconds});
    call.reply.Ok();
  }
};

struct PSetEx {
  static constexpr CommandSpec spec = {.syntax = "PSETEX key milliseconds:integer value",
                                       .summary = "Stores a string that expires after some milliseconds.",
                                       .since = "2.6.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyOW | kKeyUpdate)},
                                       .deprecated_since = "2.6.12",
                                       .replaced_by = "`SET` with the `PX` argument"};
  static void Run(Call& call) {
    auto [key, milliseconds, value] = call.args.Take<Bytes, Bytes, Bytes>();
    Store(call, key, value, {.expiry = ExpiryOption::kMilliseconds, .time = milliseconds});
    call.reply.Ok();
  }
};

struct GetSet {
  static constexpr CommandSpec spec = {.syntax = "GETSET key value",
                                       .summary = "Stores a string at a key and returns the old one.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)},
                                       .deprecated_since = "6.2.0",
                                       .replaced_by = "`SET` with the `!GET` argument"};
  static void Run(Call& call) {
    auto [key, value] = call.args.Take<Bytes, Bytes>();
    Store(call, key, value, {.returns_old = true});
  }
};

struct GetDel {
  static constexpr CommandSpec spec = {.syntax = "GETDEL key",
                                       .summary = "Returns the string at a key and deletes the key.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    KeyEdit text = call.db.OpenStringAndCountLookup(key);
    ReplyOld(call, text.entry());
    if (!text) return;
    text.Take();
    text.ReportChange("del");
    call.effect.Replace("DEL", key);
  }
};

struct GetEx {
  static constexpr CommandSpec spec = {
      .syntax =
          "GETEX key [expiration(EX seconds:integer|PX milliseconds:integer|EXAT "
          "unix-time-seconds:unix-time|PXAT unix-time-milliseconds:unix-time|PERSIST)]",
      .summary = "Returns the string at a key, and can set or remove its expiry.",
      .since = "6.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kString,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const SetOptions options = ParseGetExOptions(call.args);
    if (call.services.env.dialect.traits.expiry_is_checked_first) DeadlineOf(call, options);
    KeyEdit text = call.db.OpenStringAndCountLookup(key);
    if (!text) return call.reply.Null();
    const int64_t deadline_ms = DeadlineOf(call, options);
    call.ReplyText(*text);
    if (options.IsAbsolute() && call.HasPassed(deadline_ms)) return DeleteAsExpired(call, text);
    if (options.HasTime()) {
      text.SetDeadline(deadline_ms);
      text.ReportChange("expire");
      call.effect.Replace("PEXPIREAT", key, deadline_ms);
    } else if (options.expiry == ExpiryOption::kPersist && text->Deadline() != kNoDeadline) {
      text.SetDeadline(kNoDeadline);
      text.ReportChange("persist");
      call.effect.Replace("PERSIST", key);
    }
  }
};

struct MGet {
  static constexpr CommandSpec spec = {.syntax = "MGET key...",
                                       .summary = "Returns the strings at several keys.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kString,
                                       .flags = kReadOnly | kFast,
                                       .keys = {KeyRange(1, -1, 1, kKeyRO | kKeyAccess)},
                                       .tips = "request_policy:multi_shard"};
  static void Run(Call& call) {
    call.reply.Array(call.args.Left());
    ForEachKey(call, [&](Bytes key) {
      const Entry* entry = call.db.Read(key);
      ReplyOld(call, entry != nullptr && entry->Type() == ValueType::kString ? entry : nullptr);
    });
  }
};

void CheckPairs(const Call& call) {
  if (call.args.Left() % 2 != 0) throw refusals::WrongArity(call.command.full_name);
}

void StorePairs(Call& call) {
  ForEachKeyGroup(call, 2, [&](std::span<const Bytes> pair) {
    KeyEdit text = call.db.Open(pair[0]);
    const std::optional<ValueType> type_before = text ? std::optional(text->Type()) : std::nullopt;
    text.Put(call.Value(pair[1]));
    if (type_before) text.ReportOverwrite(*type_before, ValueType::kString);
    text.ReportChange("set");
  });
}

struct MSet {
  static constexpr CommandSpec spec = {.syntax = "MSET data{key value}...",
                                       .summary = "Stores strings at several keys in one step.",
                                       .since = "1.0.1",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {KeyRange(1, -1, 2, kKeyOW | kKeyUpdate)},
                                       .tips = "request_policy:multi_shard response_policy:all_succeeded"};
  static void Run(Call& call) {
    CheckPairs(call);
    StorePairs(call);
    call.reply.Ok();
  }
};

struct MSetNx {
  static constexpr CommandSpec spec = {.syntax = "MSETNX data{key value}...",
                                       .summary = "Stores strings at several keys, but only if none of them exists.",
                                       .since = "1.0.1",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {KeyRange(1, -1, 2, kKeyOW | kKeyInsert)}};
  static void Run(Call& call) {
    CheckPairs(call);
    bool any = false;
    ForEachKeyGroup(call, 2, [&](std::span<const Bytes> pair) { any = any || call.db.Find(pair[0]) != nullptr; });
    if (!any) StorePairs(call);
    call.reply.Integer(any ? 0 : 1);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Parts of values

struct StrLen {
  static constexpr CommandSpec spec = {.syntax = "STRLEN key",
                                       .summary = "Returns the length of the string at a key.",
                                       .since = "2.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) {
    const Entry* entry = call.db.ReadString(call.args.Next());
    call.reply.Integer(entry == nullptr ? 0 : static_cast<int64_t>(entry->TextSize()));
  }
};

// GETRANGE: returns the part of `text` from `first` to `last`. Each of the two offsets is included, and counts from the
// end if it is negative.
Bytes PartOf(Bytes text, int64_t first, int64_t last) {
  const auto size = static_cast<int64_t>(text.size());
  // As in Redis, two negative offsets of GETRANGE in the wrong order give an empty text. Clamping both to the beginning
  // of a short text could otherwise make them equal.
  if (first < 0 && last < 0 && first > last) return {};
  if (first < 0) first = std::max<int64_t>(size + first, 0);
  if (last < 0) last = std::max<int64_t>(size + last, 0);
  last = std::min(last, size - 1);
  if (first > last) return {};
  return text.substr(static_cast<size_t>(first), static_cast<size_t>(last - first + 1));
}

void ReplyPart(Call& call) {
  auto [key, first, last] = call.args.Take<Bytes, int64_t, int64_t>();
  const Entry* entry = call.db.ReadString(key);
  if (entry == nullptr) return call.reply.Bulk(Bytes());
  call.reply.Bulk(PartOf(StringText(*entry).View(), first, last));
}

struct GetRange {
  static constexpr CommandSpec spec = {.syntax = "GETRANGE key start:integer end:integer",
                                       .summary = "Returns the part of a string between two offsets.",
                                       .since = "2.4.0",
                                       .complexity = "O(N), N being the length of the part",
                                       .group = CommandGroup::kString,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyPart(call); }
};

struct SubStr {
  static constexpr CommandSpec spec = {.syntax = "SUBSTR key start:integer end:integer",
                                       .summary = "Returns the part of a string between two offsets, as GETRANGE does.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the length of the part",
                                       .group = CommandGroup::kString,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .deprecated_since = "2.0.0",
                                       .replaced_by = "`GETRANGE`"};
  static void Run(Call& call) { ReplyPart(call); }
};

// SETRANGE, APPEND: copies `part` to this offset of the text, which is extended with zero bytes if it is too short.
void Overwrite(KeyEdit& text, size_t offset, Bytes part) {
  const std::span<char> grown = text.Grow(std::max(text->TextSize(), offset + part.size()));
  if (!part.empty()) std::memcpy(grown.data() + offset, part.data(), part.size());
}

struct Append {
  static constexpr CommandSpec spec = {.syntax = "APPEND key value",
                                       .summary = "Appends text to a string; creates the string if it does not exist.",
                                       .since = "2.0.0",
                                       .complexity = "O(1), spread over many calls that let the string grow",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    auto [key, suffix] = call.args.Take<Bytes, Bytes>();
    KeyEdit text = call.db.OpenString(key);
    const size_t old_size = text ? text->TextSize() : 0;
    if (text) {
      CheckTextSize(call, old_size, suffix.size());
      Overwrite(text, old_size, suffix);
    } else {
      text.Put(call.Value(suffix));
    }
    text.ReportChange("append");
    call.reply.Integer(static_cast<int64_t>(old_size + suffix.size()));
  }
};

struct SetRange {
  static constexpr CommandSpec spec = {.syntax = "SETRANGE key offset:integer value",
                                       .summary = "Overwrites part of a string; pads a shorter string with zero bytes.",
                                       .since = "2.2.0",
                                       .complexity = "O(M), M being the length of the new part and of the padding",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, offset, part] = call.args.Take<Bytes, int64_t, Bytes>();
    if (offset < 0) throw Refusal{refusals::kOffsetOutOfRange};
    const auto at = static_cast<size_t>(offset);
    KeyEdit text = call.db.OpenString(key);
    const size_t old_size = text ? text->TextSize() : 0;
    if (part.empty()) return call.reply.Integer(static_cast<int64_t>(old_size));
    CheckTextSize(call, at, part.size());
    if (!text) text.Put(StringContent::Raw(""));
    Overwrite(text, at, part);
    text.ReportChange("setrange");
    call.reply.Integer(static_cast<int64_t>(std::max(old_size, at + part.size())));
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Longest common subsequence

struct LcsOptions {
  bool length = false;
  bool matches = false;
  bool match_lengths = false;
  int64_t min_match_length = 0;
};

LcsOptions ParseLcsOptions(Args& args) {
  LcsOptions options;
  while (!args.AtEnd()) {
    if (args.TakeToken("IDX")) {
      options.matches = true;
    } else if (args.TakeToken("LEN")) {
      options.length = true;
    } else if (args.TakeToken("WITHMATCHLEN")) {
      options.match_lengths = true;
    } else if (args.TakeTokenWith("MINMATCHLEN", 1)) {
      options.min_match_length = args.NextInteger();
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (options.length && options.matches) throw Refusal{refusals::kLcsLenAndIdx};
  return options;
}

LcsTable MakeLcsTable(const Call& call, Bytes a, Bytes b) {
  if (a.size() > LcsTable::kMaxBytes || b.size() > LcsTable::kMaxBytes) throw Refusal{refusals::kLcsTooLong};
  const auto bytes = LcsTable::TableBytes(a, b);
  if (!bytes) throw Refusal{refusals::kLcsNoMemory};
  if (*bytes > static_cast<size_t>(call.services.env.settings.proto_max_bulk_len)) {
    throw Refusal{refusals::kLcsTableOverLimit};
  }
  auto table = LcsTable::Make(a, b);
  if (!table) throw Refusal{refusals::kLcsNoMemory};
  return std::move(*table);
}

void ReplyMatch(Reply& reply, const LcsTable::Match& match, const LcsOptions& options) {
  reply.Array(options.match_lengths ? 3 : 2);
  reply.Array(2);
  reply.Integer(match.a_first);
  reply.Integer(match.a_last);
  reply.Array(2);
  reply.Integer(match.b_first);
  reply.Integer(match.b_last);
  if (options.match_lengths) reply.Integer(match.Length());
}

void ReplyMatches(Reply& reply, const LcsTable& table, const LcsOptions& options) {
  auto matches = table.Trace().matches;
  std::erase_if(matches, [&](const LcsTable::Match& match) { return match.Length() < options.min_match_length; });
  reply.Map(2);
  reply.Bulk(Bytes("matches"));
  reply.Array(matches.size());
  for (const LcsTable::Match& match : matches) ReplyMatch(reply, match, options);
  reply.Bulk(Bytes("len"));
  reply.Integer(table.Length());
}

// The string of an entry, or an empty text for a null entry. Requires: the entry is a string.
class TextOrEmpty {
 public:
  explicit TextOrEmpty(const Entry* entry) {
    if (entry != nullptr) text_.emplace(*entry);
  }
  Bytes View() const { return text_ ? text_->View() : Bytes(); }

 private:
  std::optional<StringText> text_;
};

struct Lcs {
  static constexpr CommandSpec spec = {
      .syntax = "LCS key1:key key2:key#0 [LEN] [IDX] [MINMATCHLEN min-match-len:integer] [WITHMATCHLEN]",
      .summary = "Finds the longest common subsequence of two strings.",
      .since = "7.0.0",
      .complexity = "O(N*M), N and M being the lengths of the strings",
      .group = CommandGroup::kString,
      .flags = kReadOnly,
      .keys = {KeyRange(1, 1, 1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key_a, key_b] = call.args.Take<Bytes, Bytes>();
    const Entry* a = call.db.Read(key_a);
    const Entry* b = call.db.Read(key_b);
    const auto is_string = [](const Entry* entry) { return entry == nullptr || entry->Type() == ValueType::kString; };
    if (!is_string(a) || !is_string(b)) throw Refusal{refusals::kLcsNotStrings};
    const LcsOptions options = ParseLcsOptions(call.args);
    const TextOrEmpty text_a(a);
    const TextOrEmpty text_b(b);
    const LcsTable table = MakeLcsTable(call, text_a.View(), text_b.View());
    if (options.matches) return ReplyMatches(call.reply, table, options);
    if (options.length) return call.reply.Integer(table.Length());
    call.reply.Bulk(table.Trace().text);
  }
};

constexpr auto kStringCommands = Family<Append, Get, GetDel, GetEx, GetRange, GetSet, Lcs, MGet, MSet, MSetNx, PSetEx,
                                        SetCommand, SetEx, SetNx, SetRange, StrLen, SubStr>();

}  // namespace

std::span<const CommandCard> StringCommands() { return kStringCommands; }

}  // namespace respite
