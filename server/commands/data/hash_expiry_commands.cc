// Deadlines of hash fields: HEXPIRE, HPEXPIRE, HPERSIST, HTTL and their variants (since Redis 7.4), HSETEX and HGETEX
// (since Redis 8.0). HGETDEL (since Redis 8.0): returns and removes hash fields.

#include <algorithm>
#include <vector>

#include "datatypes/hash.h"
#include "server/commands/common_arguments.h"
#include "server/commands/data/collection_words.h"
#include "server/commands/data/hash_expiry_words.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace {

// The replies of HEXPIRE and its variants for one field: it does not exist, the condition was not met, the deadline was
// set, or the field was deleted.
constexpr int64_t kNoField = -2;
constexpr int64_t kNotMet = 0;
constexpr int64_t kDone = 1;
constexpr int64_t kDeleted = 2;

// Returns the keyspace event of fields that are deleted because their new deadline has passed.
KeyEvent PastFieldEvent(const Call& call) {
  return call.services.env.dialect.traits.past_deadlines_expire ? KeyEvent("hexpired") : KeyEvent("hdel");
}

// Throws WRONGTYPE if the key is not a hash, before the other arguments are checked. Does nothing under Valkey's
// grammar, because Valkey checks the type after the arguments.
void CheckHashFirst(Call& call, Bytes key) {
  if (GrammarOfFields(call) != HashFieldGrammar::kValkey) call.db.Open<Hash>(key);
}

// Collects the fields that a command sets or deletes in one hash. Tell then notifies clients and propagates the
// changes.
class FieldChanges {
 public:
  FieldChanges(Call& call, Bytes key) : call_(call), key_(key) {}

  void Set(Bytes field) { set_.push_back(field); }
  void Delete(Bytes field) { deleted_.push_back(field); }
  // Reports and propagates all changes. `event`: the keyspace event for the fields that were set. `command`: the
  // propagated command that sets these fields on a replica, up to the argument FIELDS, which Tell adds.
  void Tell(Edit<Hash>& hash, const KeyEvent& event, std::vector<std::string> command,
            const KeyEvent& deleted_event = "hdel") {
    if (!set_.empty()) {
      hash.ReportChange(event);
      hash.ReportSubkeys(event, {set_});
      command.insert(command.end(), {"FIELDS", std::to_string(set_.size())});
      Record(std::move(command), set_);
    }
    if (!deleted_.empty()) {
      hash.ReportChange(deleted_event);
      hash.ReportSubkeys(deleted_event, {deleted_});
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

// Returns whether the options NX, XX, GT and LT of HEXPIRE allow the new deadline. A field without a deadline counts as
// one that expires infinitely late.
bool AllowForField(const FieldExpireConditions& conditions, int64_t old_ms, int64_t new_ms) {
  const bool timed = old_ms != kNoDeadline;
  if (conditions.only_without && timed) return false;
  if (conditions.only_with && !timed) return false;
  if (conditions.only_later && (!timed || new_ms <= old_ms)) return false;
  return !(conditions.only_sooner && timed && new_ms >= old_ms);
}

// Gives a packed hash room for deadlines, even if no field will have one. As in Redis, OBJECT ENCODING shows this
// (listpackex). Does nothing under Valkey's grammar.
void PrepareForDeadlines(const Call& call, Hash& hash) {
  if (GrammarOfFields(call) != HashFieldGrammar::kValkey) hash.PrepareForDeadlines();
}

void ReplyForEach(Call& call, size_t count, int64_t answer) {
  call.reply.Array(count);
  for (size_t i = 0; i < count; ++i) call.reply.Integer(answer);
}

// Implements HEXPIRE and its variants.
void SetFieldExpiry(Call& call, TimeUnit unit, TimeBase base) {
  const Bytes key = call.args.Next();
  CheckHashFirst(call, key);
  const FieldExpireWords words = TakeFieldExpireWords(call, unit, base);
  Edit<Hash> hash = call.db.Open<Hash>(key);
  if (!hash) return ReplyForEach(call, words.fields.size(), kNoField);

  PrepareForDeadlines(call, *hash);
  FieldChanges changes(call, key);
  call.reply.Array(words.fields.size());
  for (Bytes field : words.fields) {
    const auto old_ms = hash->DeadlineOf(field);
    int64_t answer = kNoField;
    if (old_ms) {
      answer = AllowForField(words.conditions, *old_ms, words.deadline_ms)
                   ? ApplyDeadline(call, *hash, field, words.deadline_ms, changes)
                   : kNotMet;
    }
    call.reply.Integer(answer);
  }
  changes.Tell(hash, "hexpire", AbsoluteExpire(key, words.deadline_ms), PastFieldEvent(call));
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
  const Bytes key = call.args.Next();
  CheckHashFirst(call, key);
  const auto fields = TakeFieldsToRead(call);
  const Hash hash = call.db.Read<Hash>(key);
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
    CheckHashFirst(call, key);
    const auto fields = TakeFieldNames(call);
    Edit<Hash> hash = call.db.Open<Hash>(key);
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
    CheckHashFirst(call, key);
    const auto fields = TakeFieldNames(call);
    Edit<Hash> hash = call.db.Open<Hash>(key);
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
    CheckHashFirst(call, key);
    FieldWords words = TakeHGetExWords(call);
    Edit<Hash> hash = OpenToGet(call, key);
    words.ReadDeadline(call);
    FieldChanges changes(call, key);
    if (hash && words.expiry != FieldExpiry::kNone) PrepareForDeadlines(call, *hash);
    call.reply.Array(words.fields.size());
    for (Bytes field : words.fields) {
      ReplyField(call, *hash, field);
      if (const auto old_ms = hash->DeadlineOf(field)) Apply(call, *hash, field, *old_ms, words, changes);
    }
    if (words.expiry == FieldExpiry::kPersist) return changes.Tell(hash, "hpersist", {"HPERSIST", std::string(key)});
    changes.Tell(hash, "hexpire", AbsoluteExpire(key, words.deadline_ms), PastFieldEvent(call));
  }

 private:
  // Opens the hash for HGETEX. Counts a hit or a miss only if Valkey is emulated.
  static Edit<Hash> OpenToGet(Call& call, Bytes key) {
    if (GrammarOfFields(call) == HashFieldGrammar::kValkey) return call.db.OpenAndCountLookup<Hash>(key);
    return call.db.Open<Hash>(key);
  }
  static void Apply(const Call& call, Hash& hash, Bytes field, int64_t old_ms, const FieldWords& words,
                    FieldChanges& changes) {
    if (words.expiry == FieldExpiry::kAt) ApplyDeadline(call, hash, field, words.deadline_ms, changes);
    if (words.expiry != FieldExpiry::kPersist || old_ms == kNoDeadline) return;
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
    FieldWords words = TakeHSetExWords(call);
    if (!MeetsKeyCondition(call, key, words.key_condition)) return call.reply.Integer(0);
    words.ReadDeadline(call);
    if (!MeetsFieldCondition(call, key, words)) return call.reply.Integer(0);
    Set(call, key, words);
    call.reply.Integer(1);
  }

 private:
  static bool MeetsKeyCondition(Call& call, Bytes key, KeyCondition condition) {
    const Edit<Hash> hash = call.db.Open<Hash>(key);
    if (condition == KeyCondition::kAlways) return true;
    return static_cast<bool>(hash) == (condition == KeyCondition::kIfPresent);
  }
  static bool MeetsFieldCondition(Call& call, Bytes key, const FieldWords& words) {
    const Edit<Hash> hash = call.db.Open<Hash>(key);
    if (words.condition == FieldCondition::kAlways) return true;
    for (size_t i = 0; i < words.fields.size(); i += 2)
      if (hash->Has(words.fields[i]) != (words.condition == FieldCondition::kIfAll)) return false;
    return true;
  }
  static void Set(Call& call, Bytes key, const FieldWords& words) {
    const bool keeps = words.expiry == FieldExpiry::kKeep;
    const bool timed = words.expiry == FieldExpiry::kAt;
    Edit<Hash> hash = OpenForFields(call, key, words.fields);
    const bool too_late = timed && call.HasPassed(words.deadline_ms);
    // HSETEX does not store values whose deadline has passed. In Redis, but not in Valkey, they may nevertheless make a
    // listpack a hashtable.
    if (!too_late || !call.services.env.dialect.traits.past_deadlines_expire)
      hash->PrepareToAdd(words.fields_to_end.empty() ? words.fields : words.fields_to_end);
    if (too_late) return Expire(call, key, hash, words.fields);
    if (timed) PrepareForDeadlines(call, *hash);
    for (size_t i = 0; i < words.fields.size(); i += 2) {
      hash->Set(words.fields[i], words.fields[i + 1], keeps ? Hash::OldDeadline::kKeep : Hash::OldDeadline::kDrop);
      if (timed) hash->SetDeadline(words.fields[i], words.deadline_ms);
    }
    hash.ReportChange("hset");
    hash.ReportSubkeys("hset", {words.fields, 2});
    if (timed) {
      hash.ReportChangeUncounted("hexpire");
      hash.ReportSubkeys("hexpire", {words.fields, 2});
    }
    RecordFields(call, key, *hash, words.fields);
  }
  // Deletes the fields of HSETEX, because the new deadline has already passed. Sends the events of fields that were set
  // and then deleted. A new hash first gets a field, which is deleted with the others.
  static void Expire(Call& call, Bytes key, Edit<Hash>& hash, std::span<const Bytes> pairs) {
    if (hash->IsEmpty()) hash->Set(pairs[0], {});
    PrepareForDeadlines(call, *hash);
    hash.ReportChange("hset");
    hash.ReportSubkeys("hset", {pairs, 2});
    if (call.services.env.dialect.traits.past_deadlines_expire) {
      hash.ReportChangeUncounted("hexpire");
      hash.ReportSubkeys("hexpire", {pairs, 2});
    }
    FieldChanges changes(call, key);
    for (size_t i = 0; i < pairs.size(); i += 2) {
      // If the new deadline of HSETEX has passed, Redis sets each field and then deletes it; Valkey only deletes it.
      // The only lasting effect of setting it is that a listpack at its size limit becomes a hashtable.
      if (!call.services.env.dialect.traits.past_deadlines_expire) hash->Set(pairs[i], pairs[i + 1]);
      hash->Remove(pairs[i]);
      changes.Delete(pairs[i]);
    }
    changes.Tell(hash, "hset", {}, PastFieldEvent(call));
  }
};

constexpr auto kHashExpiryCommands = Family<HExpire, HExpireAt, HExpireTime, HGetDel, HGetEx, HPersist, HPExpire,
                                            HPExpireAt, HPExpireTime, HPTtl, HSetEx, HTtl>();

}  // namespace

std::span<const CommandCard> HashExpiryCommands() { return kHashExpiryCommands; }

}  // namespace respite
