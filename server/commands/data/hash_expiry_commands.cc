// Deadlines of hash fields: HEXPIRE and its variants (since Redis 7.4), HSETEX and its variants (since Redis 8.0).

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "datatypes/hash.h"
#include "server/commands/common_arguments.h"
#include "server/commands/data/collection_words.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kFieldsMissing[] = "ERR Mandatory argument FIELDS is missing or not at the right position";
constexpr char kFieldCountZero[] = "ERR Parameter `numFields` should be greater than 0";
constexpr char kFieldCountNotPositive[] = "ERR Number of fields must be a positive integer";
constexpr char kFieldCountMismatch[] = "ERR The `numfields` parameter must match the number of arguments";
constexpr char kExpireNegative[] = "ERR invalid expire time, must be >= 0";
constexpr char kOneGetExpiry[] = "ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified";
constexpr char kOneSetExpiry[] = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
constexpr char kOneFieldCondition[] = "ERR Only one of FXX or FNX arguments can be specified";

}  // namespace
}  // namespace refusals

namespace {

// The replies of HEXPIRE and its variants for one field: it does not exist, the condition was not met, the deadline was
// set, or the field was deleted.
constexpr int64_t kNoField = -2;
constexpr int64_t kNotMet = 0;
constexpr int64_t kDone = 1;
constexpr int64_t kDeleted = 2;

// The latest possible deadline of a field. As in Redis, such a deadline has 46 bits.
constexpr int64_t kLatestMs = (int64_t{1} << 46) - 1;

// An error that only HSETEX gives, for an invalid number of fields.
constexpr char kPairCountInvalid[] = "ERR invalid number of fields";

std::optional<int64_t> TakeFieldCount(Args& args) {
  if (!args.TakeToken("FIELDS")) throw Refusal{refusals::kFieldsMissing};
  return args.AtEnd() ? std::nullopt : ParseInteger(args.Next());
}

// Takes the arguments `FIELDS numfields field…`, which must be the last ones, and returns the fields.
std::span<const Bytes> TakeFields(Args& args, const char* not_positive) {
  const auto count = TakeFieldCount(args);
  if (!count || *count < 1) throw Refusal{not_positive};
  if (args.Left() != static_cast<uint64_t>(*count)) throw Refusal{refusals::kFieldCountMismatch};
  return args.Rest();
}

// Takes the arguments `FIELDS numfields field value…`, which must be the last ones. Returns the fields and their
// values.
std::span<const Bytes> TakePairs(Call& call) {
  const auto count = TakeFieldCount(call.args);
  if (!count || *count < 1 || *count > std::numeric_limits<int>::max()) throw Refusal{kPairCountInvalid};
  if (call.args.Left() != 2 * static_cast<uint64_t>(*count)) throw refusals::WrongArity(call.command.full_name);
  return call.args.Rest();
}

int64_t ParseFieldDeadline(const Call& call, Bytes word, TimeUnit unit, TimeBase base) {
  int64_t ms = Args::Integer(word);
  if (ms < 0) throw Refusal{refusals::kExpireNegative};
  if (__builtin_mul_overflow(ms, unit == TimeUnit::kSeconds ? 1000 : 1, &ms) ||
      __builtin_add_overflow(ms, base == TimeBase::kNow ? call.now_ms : 0, &ms) || ms > kLatestMs) {
    throw refusals::InvalidExpireOf(call);
  }
  return ms;
}

// Collects the fields that a command sets or deletes in one hash. Tell then notifies clients and propagates the
// changes.
class FieldChanges {
 public:
  FieldChanges(Call& call, Bytes key) : call_(call), key_(key) {}

  void Set(Bytes field) { set_.push_back(field); }
  void Delete(Bytes field) { deleted_.push_back(field); }
  // Reports and propagates all changes. `event` is the keyspace event for the fields that were set. `command` is the
  // command that sets these fields again, up to its argument FIELDS.
  void Tell(Edit<Hash>& hash, const KeyEvent& event, std::vector<std::string> command) {
    if (!set_.empty()) {
      hash.ReportChange(event);
      hash.ReportSubkeys(event, {set_});
      command.insert(command.end(), {"FIELDS", std::to_string(set_.size())});
      Record(std::move(command), set_);
    }
    if (!deleted_.empty()) {
      hash.ReportChange("hdel");
      hash.ReportSubkeys("hdel", {deleted_});
      Record({"HDEL", std::string(key_)}, deleted_);
    }
  }

 private:
  void Record(std::vector<std::string> command, const std::vector<Bytes>& fields) {
    if (!call_.effect.IsRecording()) return;
    command.insert(command.end(), fields.begin(), fields.end());
    call_.effect.Replace(command);
  }

  Call& call_;
  Bytes key_;
  std::vector<Bytes> set_;
  std::vector<Bytes> deleted_;
};

// Sets the deadline of a field, or deletes the field if the deadline has passed. Returns the reply for the field.
// Requires: the hash has the field.
int64_t ApplyDeadline(const Call& call, Hash& hash, Bytes field, int64_t deadline_ms, FieldChanges& changes) {
  if (call.HasPassed(deadline_ms)) {
    hash.Remove(field);
    changes.Delete(field);
    return kDeleted;
  }
  hash.SetDeadline(field, deadline_ms);
  changes.Set(field);
  return kDone;
}

std::vector<std::string> AbsoluteExpire(Bytes key, int64_t deadline_ms) {
  return {"HPEXPIREAT", std::string(key), std::to_string(deadline_ms)};
}

}  // namespace

void RecordFields(Call& call, Bytes key, const Hash& hash, std::span<const Bytes> pairs) {
  if (!call.effect.IsRecording()) return;
  std::vector<Bytes> words = {"HSET", key};
  words.insert(words.end(), pairs.begin(), pairs.end());
  call.effect.Replace(words);
  const auto deadline_of = [&](size_t at) { return hash.DeadlineOf(pairs[at]).value_or(kNoDeadline); };
  for (size_t at = 0; at < pairs.size();) {
    const int64_t deadline_ms = deadline_of(at);
    const size_t first = at;
    while (at < pairs.size() && deadline_of(at) == deadline_ms) at += 2;
    if (deadline_ms == kNoDeadline) continue;
    std::vector<std::string> command = AbsoluteExpire(key, deadline_ms);
    command.insert(command.end(), {"FIELDS", std::to_string((at - first) / 2)});
    for (size_t i = first; i < at; i += 2) command.emplace_back(pairs[i]);
    call.effect.Replace(command);
  }
}

namespace {

// === HEXPIRE and its variants

enum class TtlCondition : uint8_t { kNone, kIfWithout, kIfWith, kIfLater, kIfSooner };

TtlCondition TakeTtlCondition(Args& args) {
  if (args.TakeToken("NX")) return TtlCondition::kIfWithout;
  if (args.TakeToken("XX")) return TtlCondition::kIfWith;
  if (args.TakeToken("GT")) return TtlCondition::kIfLater;
  if (args.TakeToken("LT")) return TtlCondition::kIfSooner;
  return TtlCondition::kNone;
}

// Returns whether the option NX, XX, GT or LT allows the new deadline. A field without a deadline counts as one that
// expires infinitely late.
bool Allows(TtlCondition condition, int64_t old_ms, int64_t new_ms) {
  const bool timed = old_ms != kNoDeadline;
  switch (condition) {
    case TtlCondition::kNone:
      return true;
    case TtlCondition::kIfWithout:
      return !timed;
    case TtlCondition::kIfWith:
      return timed;
    case TtlCondition::kIfLater:
      return timed && new_ms > old_ms;
    case TtlCondition::kIfSooner:
      return !timed || new_ms < old_ms;
  }
  return false;
}

void ReplyForEach(Call& call, size_t count, int64_t answer) {
  call.reply.Array(count);
  for (size_t i = 0; i < count; ++i) call.reply.Integer(answer);
}

// Implements HEXPIRE and its variants. As Redis does, checks the type of the key before the other arguments.
void SetFieldExpiry(Call& call, TimeUnit unit, TimeBase base) {
  const Bytes key = call.args.Next();
  Edit<Hash> hash = call.db.Open<Hash>(key);
  const int64_t deadline_ms = ParseFieldDeadline(call, call.args.Next(), unit, base);
  const TtlCondition condition = TakeTtlCondition(call.args);
  const auto fields = TakeFields(call.args, refusals::kFieldCountZero);
  if (!hash) return ReplyForEach(call, fields.size(), kNoField);

  FieldChanges changes(call, key);
  call.reply.Array(fields.size());
  for (Bytes field : fields) {
    const auto old_ms = hash->DeadlineOf(field);
    int64_t answer = kNoField;
    if (old_ms) {
      answer =
          Allows(condition, *old_ms, deadline_ms) ? ApplyDeadline(call, *hash, field, deadline_ms, changes) : kNotMet;
    }
    call.reply.Integer(answer);
  }
  changes.Tell(hash, "hexpire", AbsoluteExpire(key, deadline_ms));
}

struct HExpire {
  static constexpr CommandSpec spec = {
      .syntax = "HEXPIRE key seconds:integer [condition(NX|XX|GT|LT)] FIELDS fields{numfields:integer field...}",
      .summary = "Sets the expiration of hash fields in seconds.",
      .since = "7.4.0,valkey:9.0.0",
      .complexity = "O(N), N being the number of fields named",
      .group = CommandGroup::kHash,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) { SetFieldExpiry(call, TimeUnit::kSeconds, TimeBase::kNow); }
};

struct HPExpire {
  static constexpr CommandSpec spec = {
      .syntax = "HPEXPIRE key milliseconds:integer [condition(NX|XX|GT|LT)] FIELDS fields{numfields:integer field...}",
      .summary = "Sets the expiration of hash fields in milliseconds.",
      .since = "7.4.0,valkey:9.0.0",
      .complexity = "O(N), N being the number of fields named",
      .group = CommandGroup::kHash,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) { SetFieldExpiry(call, TimeUnit::kMilliseconds, TimeBase::kNow); }
};

struct HExpireAt {
  static constexpr CommandSpec spec = {
      .syntax =
          "HEXPIREAT key unix-time-seconds:unix-time [condition(NX|XX|GT|LT)] FIELDS fields{numfields:integer "
          "field...}",
      .summary = "Sets the expiration of hash fields to a unix time in seconds.",
      .since = "7.4.0,valkey:9.0.0",
      .complexity = "O(N), N being the number of fields named",
      .group = CommandGroup::kHash,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) { SetFieldExpiry(call, TimeUnit::kSeconds, TimeBase::kEpoch); }
};

struct HPExpireAt {
  static constexpr CommandSpec spec = {
      .syntax =
          "HPEXPIREAT key unix-time-milliseconds:unix-time [condition(NX|XX|GT|LT)] FIELDS fields{numfields:integer "
          "field...}",
      .summary = "Sets the expiration of hash fields to a unix time in milliseconds.",
      .since = "7.4.0,valkey:9.0.0",
      .complexity = "O(N), N being the number of fields named",
      .group = CommandGroup::kHash,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) { SetFieldExpiry(call, TimeUnit::kMilliseconds, TimeBase::kEpoch); }
};

// === HTTL and its variants, HPERSIST

void ReplyFieldExpiry(Call& call, TimeUnit unit, TimeBase base) {
  const Hash hash = call.db.Read<Hash>(call.args.Next());
  const auto fields = TakeFields(call.args, refusals::kFieldCountNotPositive);
  call.reply.Array(fields.size());
  for (Bytes field : fields) {
    const auto deadline_ms = hash.DeadlineOf(field);
    if (!deadline_ms || *deadline_ms == kNoDeadline) {
      call.reply.Integer(deadline_ms ? kNoDeadlineReply : kNoField);
      continue;
    }
    const int64_t ms = std::max<int64_t>(*deadline_ms - (base == TimeBase::kNow ? call.now_ms : 0), 0);
    // As in Redis, HTTL rounds up to whole seconds, whereas TTL rounds to the nearest second.
    call.reply.Integer(unit == TimeUnit::kSeconds ? (ms + 999) / 1000 : ms);
  }
}

struct HTtl {
  static constexpr CommandSpec spec = {.syntax = "HTTL key FIELDS fields{numfields:integer field...}",
                                       .summary = "Returns the seconds until hash fields expire.",
                                       .since = "7.4.0,valkey:9.0.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { ReplyFieldExpiry(call, TimeUnit::kSeconds, TimeBase::kNow); }
};

struct HPTtl {
  static constexpr CommandSpec spec = {.syntax = "HPTTL key FIELDS fields{numfields:integer field...}",
                                       .summary = "Returns the milliseconds until hash fields expire.",
                                       .since = "7.4.0,valkey:9.0.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { ReplyFieldExpiry(call, TimeUnit::kMilliseconds, TimeBase::kNow); }
};

struct HExpireTime {
  static constexpr CommandSpec spec = {.syntax = "HEXPIRETIME key FIELDS fields{numfields:integer field...}",
                                       .summary = "Returns the unix time in seconds at which hash fields expire.",
                                       .since = "7.4.0,valkey:9.0.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyFieldExpiry(call, TimeUnit::kSeconds, TimeBase::kEpoch); }
};

struct HPExpireTime {
  static constexpr CommandSpec spec = {.syntax = "HPEXPIRETIME key FIELDS fields{numfields:integer field...}",
                                       .summary = "Returns the unix time in milliseconds at which hash fields expire.",
                                       .since = "7.4.0,valkey:9.0.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyFieldExpiry(call, TimeUnit::kMilliseconds, TimeBase::kEpoch); }
};

struct HPersist {
  static constexpr CommandSpec spec = {.syntax = "HPERSIST key FIELDS fields{numfields:integer field...}",
                                       .summary = "Removes the expiration of hash fields.",
                                       .since = "7.4.0,valkey:9.0.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    Edit<Hash> hash = call.db.Open<Hash>(key);
    const auto fields = TakeFields(call.args, refusals::kFieldCountNotPositive);
    if (!hash) return ReplyForEach(call, fields.size(), kNoField);
    FieldChanges changes(call, key);
    call.reply.Array(fields.size());
    for (Bytes field : fields) call.reply.Integer(Persist(*hash, field, changes));
    changes.Tell(hash, "hpersist", {"HPERSIST", std::string(key)});
  }

 private:
  static int64_t Persist(Hash& hash, Bytes field, FieldChanges& changes) {
    const auto deadline_ms = hash.DeadlineOf(field);
    if (!deadline_ms) return kNoField;
    if (*deadline_ms == kNoDeadline) return kNoDeadlineReply;
    hash.SetDeadline(field, kNoDeadline);
    changes.Set(field);
    return kDone;
  }
};

// === Values with deadlines

enum class FieldExpiry : uint8_t { kNone, kKeep, kPersist, kAt };
enum class FieldCondition : uint8_t { kAlways, kIfNone, kIfAll };
enum class KeyCondition : uint8_t { kAlways, kIfAbsent, kIfPresent };

struct FieldOptions {
  FieldCondition condition = FieldCondition::kAlways;
  KeyCondition key_condition = KeyCondition::kAlways;
  FieldExpiry expiry = FieldExpiry::kNone;
  int64_t deadline_ms = kNoDeadline;
};

// Parses the options [EX s|PX ms|EXAT s|PXAT ms], or instead KEEPTTL for HSETEX and PERSIST for HGETEX. For HSETEX,
// also parses the conditions FNX, FXX, NX and XX. Stops at any other argument.
class FieldOptionParser {
 public:
  FieldOptionParser(Call& call, const char* only_one) : call_(call), args_(call.args), only_one_(only_one) {}

  FieldOptions ParseHSetEx() {
    while (TakeKeyCondition("NX", KeyCondition::kIfAbsent) || TakeKeyCondition("XX", KeyCondition::kIfPresent) ||
           TakeCondition("FNX", FieldCondition::kIfNone) || TakeCondition("FXX", FieldCondition::kIfAll) ||
           TakeWord("KEEPTTL", FieldExpiry::kKeep) || TakeAnyTime()) {
    }
    return options_;
  }
  FieldOptions ParseHGetEx() {
    while (TakeWord("PERSIST", FieldExpiry::kPersist) || TakeAnyTime()) {
    }
    return options_;
  }

 private:
  bool TakeCondition(Bytes token, FieldCondition condition) {
    if (!args_.TakeToken(token)) return false;
    if (options_.condition != FieldCondition::kAlways) throw Refusal{refusals::kOneFieldCondition};
    options_.condition = condition;
    return true;
  }
  bool TakeKeyCondition(Bytes token, KeyCondition condition) {  // of Valkey 9.1
    const bool has_conditions = call_.services.env.dialect.Has("valkey:9.1.0") || call_.unit.IsReplaying();
    if (!has_conditions || !args_.TakeToken(token)) return false;
    const KeyCondition before = std::exchange(options_.key_condition, condition);
    if (before != KeyCondition::kAlways && before != condition) throw Refusal{refusals::kSyntax};
    return true;
  }
  bool TakeWord(Bytes token, FieldExpiry expiry) {
    if (!args_.TakeToken(token)) return false;
    if (options_.expiry != FieldExpiry::kNone) throw Refusal{only_one_};
    options_.expiry = expiry;
    return true;
  }
  bool TakeAnyTime() {
    return TakeTime("EX", TimeUnit::kSeconds, TimeBase::kNow) ||
           TakeTime("PX", TimeUnit::kMilliseconds, TimeBase::kNow) ||
           TakeTime("EXAT", TimeUnit::kSeconds, TimeBase::kEpoch) ||
           TakeTime("PXAT", TimeUnit::kMilliseconds, TimeBase::kEpoch);
  }
  bool TakeTime(Bytes token, TimeUnit unit, TimeBase base) {
    if (!TakeWord(token, FieldExpiry::kAt)) return false;
    options_.deadline_ms = ParseFieldDeadline(call_, args_.Next(), unit, base);
    return true;
  }

  Call& call_;
  Args& args_;
  const char* only_one_;
  FieldOptions options_;
};

struct HGetDel {
  static constexpr CommandSpec spec = {.syntax = "HGETDEL key FIELDS fields{numfields:integer field...}",
                                       .summary = "Returns the values of fields and removes the fields.",
                                       .since = "8.0.0,valkey:9.1.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    Edit<Hash> hash = call.db.Open<Hash>(key);
    const auto fields = TakeFields(call.args, refusals::kFieldCountNotPositive);
    FieldChanges changes(call, key);
    call.reply.Array(fields.size());
    for (Bytes field : fields) {
      ReplyField(call, *hash, field);
      if (hash && hash->Remove(field)) changes.Delete(field);
    }
    changes.Tell(hash, "hdel", {});
  }
};

struct HGetEx {
  static constexpr CommandSpec spec = {
      .syntax =
          "HGETEX key [expiration(EX seconds:integer|PX milliseconds:integer|EXAT unix-time-seconds:unix-time|PXAT "
          "unix-time-milliseconds:unix-time|PERSIST)] FIELDS fields{numfields:integer field...}",
      .summary = "Returns the values of fields and may change their expiration.",
      .since = "8.0.0,valkey:9.0.0",
      .complexity = "O(N), N being the number of fields named",
      .group = CommandGroup::kHash,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    Edit<Hash> hash = call.db.Open<Hash>(key);
    const FieldOptions options = FieldOptionParser(call, refusals::kOneGetExpiry).ParseHGetEx();
    const auto fields = TakeFields(call.args, refusals::kFieldCountNotPositive);
    FieldChanges changes(call, key);
    call.reply.Array(fields.size());
    for (Bytes field : fields) {
      ReplyField(call, *hash, field);
      if (const auto old_ms = hash->DeadlineOf(field)) Apply(call, *hash, field, *old_ms, options, changes);
    }
    if (options.expiry == FieldExpiry::kPersist) return changes.Tell(hash, "hpersist", {"HPERSIST", std::string(key)});
    changes.Tell(hash, "hexpire", AbsoluteExpire(key, options.deadline_ms));
  }

 private:
  static void Apply(const Call& call, Hash& hash, Bytes field, int64_t old_ms, const FieldOptions& options,
                    FieldChanges& changes) {
    if (options.expiry == FieldExpiry::kAt) ApplyDeadline(call, hash, field, options.deadline_ms, changes);
    if (options.expiry != FieldExpiry::kPersist || old_ms == kNoDeadline) return;
    hash.SetDeadline(field, kNoDeadline);
    changes.Set(field);
  }
};

struct HSetEx {
  static constexpr CommandSpec spec = {
      .syntax =
          "HSETEX key [key-condition(NX|XX)@valkey:9.1.0] [condition(FNX|FXX)] [expiration(EX seconds:integer|PX "
          "milliseconds:integer|EXAT "
          "unix-time-seconds:unix-time|PXAT unix-time-milliseconds:unix-time|KEEPTTL)] FIELDS "
          "fields{numfields:integer data{field value}...}",
      .summary = "Sets values and expiration of fields if a condition holds.",
      .since = "8.0.0,valkey:9.0.0",
      .complexity = "O(N), N being the number of fields",
      .group = CommandGroup::kHash,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const FieldOptions options = FieldOptionParser(call, refusals::kOneSetExpiry).ParseHSetEx();
    const auto pairs = TakePairs(call);
    if (!MeetsConditions(call, key, pairs, options)) return call.reply.Integer(0);
    const bool too_late = options.expiry == FieldExpiry::kAt && call.HasPassed(options.deadline_ms);
    too_late ? Delete(call, key, pairs) : Set(call, key, pairs, options);
    call.reply.Integer(1);
  }

 private:
  static bool MeetsConditions(Call& call, Bytes key, std::span<const Bytes> pairs, const FieldOptions& options) {
    const Edit<Hash> hash = call.db.Open<Hash>(key);
    if (options.key_condition == KeyCondition::kIfAbsent && hash) return false;
    if (options.key_condition == KeyCondition::kIfPresent && !hash) return false;
    if (options.condition == FieldCondition::kAlways) return true;
    for (size_t i = 0; i < pairs.size(); i += 2)
      if (hash->Has(pairs[i]) != (options.condition == FieldCondition::kIfAll)) return false;
    return true;
  }
  static void Delete(Call& call, Bytes key, std::span<const Bytes> pairs) {
    Edit<Hash> hash = call.db.Open<Hash>(key);
    if (!hash) return;
    FieldChanges changes(call, key);
    for (size_t i = 0; i < pairs.size(); i += 2)
      if (hash->Remove(pairs[i])) changes.Delete(pairs[i]);
    changes.Tell(hash, "hset", {});
  }
  static void Set(Call& call, Bytes key, std::span<const Bytes> pairs, const FieldOptions& options) {
    const bool keeps = options.expiry == FieldExpiry::kKeep;
    const bool timed = options.expiry == FieldExpiry::kAt;
    Edit<Hash> hash = OpenForFields(call, key, pairs);
    hash->PrepareToAdd(pairs);
    for (size_t i = 0; i < pairs.size(); i += 2) {
      hash->Set(pairs[i], pairs[i + 1], keeps ? Hash::OldDeadline::kKeep : Hash::OldDeadline::kDrop);
      if (timed) hash->SetDeadline(pairs[i], options.deadline_ms);
    }
    hash.ReportChange("hset");
    hash.ReportSubkeys("hset", {pairs, 2});
    if (timed) {
      hash.ReportChangeUncounted("hexpire");
      hash.ReportSubkeys("hexpire", {pairs, 2});
    }
    RecordFields(call, key, *hash, pairs);
  }
};

constexpr auto kHashExpiryCommands = Family<HExpire, HExpireAt, HExpireTime, HGetDel, HGetEx, HPersist, HPExpire,
                                            HPExpireAt, HPExpireTime, HPTtl, HSetEx, HTtl>();

}  // namespace

std::span<const CommandCard> HashExpiryCommands() { return kHashExpiryCommands; }

}  // namespace respite
