#include <cmath>
#include <limits>
#include <unordered_set>
#include <vector>

#include "datatypes/hash.h"
#include "server/catalogue/refusals.h"
#include "server/commands/data/collection_words.h"
#include "server/commands/data/scan.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kIsNanOrInfinity[] = "ERR value is NaN or Infinity";
constexpr char kHashNotInteger[] = "ERR hash value is not an integer";
constexpr char kHashNotFloat[] = "ERR hash value is not a float";

}  // namespace
}  // namespace refusals

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Writing fields

// Sets fields. `words` are fields, each followed by its value. Returns the number of new fields.
int64_t SetPairs(Edit<Hash>& hash, std::span<const Bytes> words) {
  hash->PrepareToAdd(words);
  int64_t added = 0;
  for (size_t i = 0; i < words.size(); i += 2)
    added += hash->Set(words[i], words[i + 1]) == Hash::Outcome::kAdded ? 1 : 0;
  hash.ReportChange("hset", words.size() / 2);
  hash.ReportSubkeys("hset", {words, 2});
  return added;
}

int64_t SetAllPairs(Call& call) {
  const Bytes key = call.args.Next();
  const std::span<const Bytes> words = call.args.Rest();
  if (words.size() % 2 != 0) throw refusals::WrongArity(call.command.full_name);
  Edit<Hash> hash = OpenForFields(call, key, words);
  return SetPairs(hash, words);
}

struct HSet {
  static constexpr CommandSpec spec = {.syntax = "HSET key data{field value}...",
                                       .summary = "Sets fields of a hash and returns the number of new ones.",
                                       .since = "2.0.0",
                                       .complexity = "O(1) for one field, O(N) for N fields",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) { call.reply.Integer(SetAllPairs(call)); }
};

struct HMSet {
  static constexpr CommandSpec spec = {.syntax = "HMSET key data{field value}...",
                                       .summary = "Sets fields of a hash.",
                                       .since = "2.0.0",
                                       .complexity = "O(N), N being the number of fields",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)},
                                       .deprecated_since = "4.0.0",
                                       .replaced_by = "`HSET` with multiple field-value pairs"};
  static void Run(Call& call) {
    SetAllPairs(call);
    call.reply.Ok();
  }
};

struct HSetNx {
  static constexpr CommandSpec spec = {.syntax = "HSETNX key field value",
                                       .summary = "Sets a field of a hash if it does not exist.",
                                       .since = "2.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::span<const Bytes> words = call.args.Rest();
    Edit<Hash> hash = OpenForFields(call, key, words);
    call.reply.Integer(hash->Has(words[0]) ? 0 : SetPairs(hash, words));
  }
};

// Returns how many bytes a new listpack of HINCRBY reserves for the field and a number of usual length.
size_t CapacityForNumber(Bytes field) { return ListpackBytesFor({&field, 1}) + 12; }

struct HIncrBy {
  static constexpr CommandSpec spec = {.syntax = "HINCRBY key field increment:integer",
                                       .summary = "Increments the integer in a field; a missing field counts as 0.",
                                       .since = "2.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, field, delta] = call.args.Take<Bytes, Bytes, int64_t>();
    Edit<Hash> hash = call.db.OpenOrCreate<Hash>(key, CapacityForNumber(field));
    int64_t sum = 0;
    if (const auto old = hash->Get(field)) sum = Args::Integer(old->View(), refusals::kHashNotInteger);
    if (__builtin_add_overflow(sum, delta, &sum)) throw Refusal{refusals::kOverflow};
    hash->Set(field, IntegerText(sum), Hash::OldDeadline::kKeep);
    hash.ReportChange("hincrby");
    hash.ReportSubkeys("hincrby", {{&field, 1}});
    call.reply.Integer(sum);
  }
};

long double ParseHashFloat(Bytes text, const char* refusal) {
  const auto value = ParseLongDouble(text);
  if (!value) throw Refusal{refusal};
  return *value;
}

struct HIncrByFloat {
  static constexpr CommandSpec spec = {
      .syntax = "HINCRBYFLOAT key field increment:double",
      .summary = "Increments the floating point number in a field; a missing field counts as 0.",
      .since = "2.6.0",
      .complexity = "O(1)",
      .group = CommandGroup::kHash,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, field, word] = call.args.Take<Bytes, Bytes, Bytes>();
    const long double delta = ParseHashFloat(word, refusals::kNotFloat);
    if (!std::isfinite(delta)) throw Refusal{refusals::kIsNanOrInfinity};
    Edit<Hash> hash = call.db.OpenOrCreate<Hash>(key, CapacityForNumber(field));
    long double sum = delta;
    if (const auto old = hash->Get(field)) sum += ParseHashFloat(old->View(), refusals::kHashNotFloat);
    if (!std::isfinite(sum)) throw Refusal{refusals::kNanOrInfinity};
    const std::string text = LongDoubleText(sum);
    hash->Set(field, text, Hash::OldDeadline::kKeep);
    hash.ReportChange("hincrbyfloat");
    hash.ReportSubkeys("hincrbyfloat", {{&field, 1}});
    RecordFields(call, key, *hash, std::array<Bytes, 2>{field, text});
    call.reply.Bulk(text);
  }
};

struct HDel {
  static constexpr CommandSpec spec = {.syntax = "HDEL key field...",
                                       .summary = "Removes fields of a hash, and an empty hash.",
                                       .since = "2.0.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    Edit<Hash> hash = call.db.Open<Hash>(call.args.Next());
    if (!hash) return call.reply.Integer(0);
    int64_t removed = 0;
    std::vector<Bytes> removed_fields;  // for subkey events
    for (Bytes field : call.args.Rest()) {
      if (!hash->Remove(field)) continue;
      ++removed;
      if (hash.WantsSubkeys()) removed_fields.push_back(field);
    }
    call.reply.Integer(removed);
    if (removed == 0) return;
    hash.ReportChange("hdel", static_cast<uint64_t>(removed));
    hash.ReportSubkeys("hdel", {removed_fields});
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Reading fields

struct HGet {
  static constexpr CommandSpec spec = {.syntax = "HGET key field",
                                       .summary = "Returns the value of a field.",
                                       .since = "2.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, field] = call.args.Take<Bytes, Bytes>();
    ReplyField(call, call.db.Read<Hash>(key), field);
  }
};

struct HMGet {
  static constexpr CommandSpec spec = {.syntax = "HMGET key field...",
                                       .summary = "Returns the values of several fields.",
                                       .since = "2.0.0",
                                       .complexity = "O(N), N being the number of fields named",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Hash hash = call.db.Read<Hash>(call.args.Next());
    call.reply.Array(call.args.Left());
    for (Bytes field : call.args.Rest()) ReplyField(call, hash, field);
  }
};

struct HExists {
  static constexpr CommandSpec spec = {.syntax = "HEXISTS key field",
                                       .summary = "Returns whether a hash has a field.",
                                       .since = "2.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) {
    auto [key, field] = call.args.Take<Bytes, Bytes>();
    call.reply.Integer(call.db.Read<Hash>(key).Has(field) ? 1 : 0);
  }
};

struct HLen {
  static constexpr CommandSpec spec = {.syntax = "HLEN key",
                                       .summary = "Counts the fields of a hash.",
                                       .since = "2.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) { call.reply.Integer(static_cast<int64_t>(call.db.Read<Hash>(call.args.Next()).Size())); }
};

struct HStrLen {
  static constexpr CommandSpec spec = {.syntax = "HSTRLEN key field",
                                       .summary = "Returns the length of the value of a field.",
                                       .since = "3.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) {
    auto [key, field] = call.args.Take<Bytes, Bytes>();
    const auto value = call.db.Read<Hash>(key).Get(field);
    call.reply.Integer(value ? static_cast<int64_t>(value->View().size()) : 0);
  }
};

struct HGetAll {
  static constexpr CommandSpec spec = {.syntax = "HGETALL key",
                                       .summary = "Returns all fields of a hash with their values.",
                                       .since = "2.0.0",
                                       .complexity = "O(N), N being the number of fields",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    const Hash hash = call.db.Read<Hash>(call.args.Next());
    call.reply.Map(hash.Size());
    hash.ForEach([&](Bytes field, Bytes value) {
      call.reply.Bulk(field);
      call.reply.Bulk(value);
    });
  }
};

struct HKeys {
  static constexpr CommandSpec spec = {.syntax = "HKEYS key",
                                       .summary = "Returns the names of all fields of a hash.",
                                       .since = "2.0.0",
                                       .complexity = "O(N), N being the number of fields",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    const Hash hash = call.db.Read<Hash>(call.args.Next());
    call.reply.Array(hash.Size());
    hash.ForEach([&](Bytes field, Bytes) { call.reply.Bulk(field); });
  }
};

struct HVals {
  static constexpr CommandSpec spec = {.syntax = "HVALS key",
                                       .summary = "Returns the values of all fields of a hash.",
                                       .since = "2.0.0",
                                       .complexity = "O(N), N being the number of fields",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    const Hash hash = call.db.Read<Hash>(call.args.Next());
    call.reply.Array(hash.Size());
    hash.ForEach([&](Bytes, Bytes value) { call.reply.Bulk(value); });
  }
};

// === Random fields

enum class With : uint8_t { kFields, kValues };

// Begins a reply with `count` fields. As in Redis, a field with its value is a pair under RESP3, and two elements under
// RESP2.
void ReplyPairCount(Call& call, size_t count, With with) {
  call.reply.Array(with == With::kValues && !call.reply.IsResp3() ? count * 2 : count);
}

void ReplyPair(Call& call, Bytes field, Bytes value, With with) {
  if (with == With::kValues && call.reply.IsResp3()) call.reply.Array(2);
  call.reply.Bulk(field);
  if (with == With::kValues) call.reply.Bulk(value);
}
void ReplyPair(Call& call, const Hash::Pair& pair, With with) {
  ReplyPair(call, pair.field.View(), pair.value.View(), with);
}

// HRANDFIELD with a negative count: replies with `count` random fields, which may repeat.
void ReplyRepeating(Call& call, const Hash& hash, uint64_t count, With with) {
  constexpr uint64_t kWorthListing = 8;  // from this count on, a packed hash is scanned once
  Random& random = call.random;
  RandomReplyLimit limit(call, count);
  ReplyPairCount(call, count, with);
  const bool listed = hash.Table() == nullptr ? count >= kWorthListing : hash.HasExpiredFields();
  const std::vector<Hash::Place> places = listed ? hash.Places() : std::vector<Hash::Place>();
  for (; count > 0; --count, limit.Check()) {
    ReplyPair(call, hash.At(listed ? places[random.Below(places.size())] : hash.PickRandom(random)), with);
  }
}

// HRANDFIELD: replies with `count` different fields of a hash that has `size`. Takes random fields of a large table if
// few are wanted. Otherwise scans the hash once, and chooses so that each subset is equally likely.
void ReplyDistinct(Call& call, const Hash& hash, uint64_t count, size_t size, With with) {
  constexpr uint64_t kFew = 3;  // fewer than 1/kFew of the fields
  Random& random = call.random;
  ReplyPairCount(call, count, with);
  if (hash.Table() != nullptr && count * kFew < size && !hash.HasExpiredFields()) {
    std::unordered_set<const HashField*> drawn;
    while (drawn.size() < count) {
      const Hash::Place place = hash.PickRandom(random);
      if (drawn.insert(place.field).second) ReplyPair(call, hash.At(place), with);
    }
    return;
  }
  if (count == size) return hash.ForEach([&](Bytes field, Bytes value) { ReplyPair(call, field, value, with); });
  size_t left = size;
  for (const Hash::Place& place : hash.Places()) {
    if (random.Below(left--) >= count) continue;
    ReplyPair(call, hash.At(place), with);
    if (--count == 0) return;
  }
}

struct HRandField {
  static constexpr CommandSpec spec = {.syntax = "HRANDFIELD key [options{count:integer [WITHVALUES]}]",
                                       .summary = "Returns random fields of a hash.",
                                       .since = "6.2.0",
                                       .complexity = "O(N), N being the number of fields returned",
                                       .group = CommandGroup::kHash,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    if (call.args.AtEnd()) return ReplyOne(call, key);
    const int64_t count = call.args.NextInteger();
    if (count == std::numeric_limits<int64_t>::min()) throw Refusal{refusals::kNotLong};
    const With with = call.args.TakeToken("WITHVALUES") ? With::kValues : With::kFields;
    call.args.ExpectEnd();
    constexpr int64_t kMaxPairs = std::numeric_limits<int64_t>::max() / 2;
    if (with == With::kValues && (count > kMaxPairs || count < -kMaxPairs)) throw Refusal{refusals::kOutOfRange};
    ReplyMany(call, call.db.Read<Hash>(key), count, with);
  }

 private:
  static void ReplyOne(Call& call, Bytes key) {
    const Hash hash = call.db.Read<Hash>(key);
    if (!hash.Exists()) return call.reply.Null();
    call.reply.Bulk(hash.At(hash.PickRandom(call.random)).field.View());
  }
  static void ReplyMany(Call& call, const Hash& hash, int64_t count, With with) {
    const size_t size = hash.Size();
    if (size == 0 || count == 0) return call.reply.Array(0);
    if (count < 0) return ReplyRepeating(call, hash, static_cast<uint64_t>(-count), with);
    ReplyDistinct(call, hash, std::min<uint64_t>(static_cast<uint64_t>(count), size), size, with);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// HSCAN

// Returns the fields that one step of HSCAN finds, and advances the cursor. Requires: the hash is stored as a table,
// not packed.
std::vector<const HashField*> WalkFields(const Hash& hash, uint64_t& cursor, const ScanOptions& options) {
  std::vector<const HashField*> met;
  cursor = WalkTable(*hash.Table(), cursor, options.count, [&](const HashField* field) { met.push_back(field); });
  std::erase_if(met, [&](const HashField* field) { return !options.Matches(field->Key()) || !hash.IsAlive(*field); });
  return met;
}

struct HScan {
  static constexpr CommandSpec spec = {
      .syntax = "HSCAN key cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [NOVALUES@~7.4.0,valkey:8.0.0]",
      .summary = "Iterates over the fields of a hash.",
      .since = "2.8.0",
      .complexity = "O(1) for each call, O(N) for a whole round, N being the number of fields",
      .group = CommandGroup::kHash,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    uint64_t cursor = ParseCursor(call, call.args.Next());
    const Hash hash = call.db.Read<Hash>(key);
    if (!hash.Exists()) return ReplyHead(call, 0, 0);  // Redis: does not check the options
    const ScanOptions options = ParseScanOptions(call.args, ScanKind::kFields);
    hash.Table() != nullptr ? ReplyStep(call, hash, cursor, options) : ReplyPacked(call, hash, options);
  }

 private:
  static void ReplyHead(Call& call, uint64_t cursor, size_t elements) {
    call.reply.Array(2);
    call.reply.Bulk(IntegerText::FromUnsigned(cursor));
    call.reply.Array(elements);
  }
  static void ReplyStep(Call& call, const Hash& hash, uint64_t cursor, const ScanOptions& options) {
    const std::vector<const HashField*> met = WalkFields(hash, cursor, options);
    ReplyHead(call, cursor, met.size() * (options.omits_values ? 1 : 2));
    for (const HashField* field : met) {
      call.reply.Bulk(field->Key());
      if (!options.omits_values) call.reply.Bulk(field->Value());
    }
  }
  static void ReplyPacked(Call& call, const Hash& hash, const ScanOptions& options) {
    size_t matching = 0;
    hash.ForEach([&](Bytes field, Bytes) { matching += options.Matches(field) ? 1 : 0; });
    ReplyHead(call, 0, matching * (options.omits_values ? 1 : 2));
    hash.ForEach([&](Bytes field, Bytes value) {
      if (!options.Matches(field)) return;
      call.reply.Bulk(field);
      if (!options.omits_values) call.reply.Bulk(value);
    });
  }
};

constexpr auto kHashCommands = Family<HDel, HExists, HGet, HGetAll, HIncrBy, HIncrByFloat, HKeys, HLen, HMGet, HMSet,
                                      HRandField, HScan, HSet, HSetNx, HStrLen, HVals>();

}  // namespace

std::span<const CommandCard> HashCommands() { return kHashCommands; }

}  // namespace respite
