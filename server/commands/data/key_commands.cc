#include <vector>

#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/commands/common_arguments.h"
#include "server/commands/data/scan.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/unit.h"
#include "server/dataset/value_names.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kSameObject[] = "ERR source and destination objects are the same";
constexpr char kNotCopied[] = "ERR not supported for this module key";
constexpr char kIdleTimeUnderLfu[] =
    "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies "
    "at runtime LRU and LFU data will take some time to adjust.";
constexpr char kFrequencyWithoutLfu[] =
    "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching "
    "between policies at runtime LRU and LFU data will take some time to adjust.";

}  // namespace
}  // namespace refusals

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Existence and type

void DeleteKeys(Call& call, FreeMode mode) {
  int64_t deleted = 0;
  ForEachKey(call, [&](Bytes key) {
    KeyEdit edit = call.db.Open(key);
    if (!edit) return;
    call.services.data.lazy_free.Free(edit.Take(), mode);
    edit.ReportChange("del");
    ++deleted;
  });
  call.reply.Integer(deleted);
}

struct Del {
  static constexpr CommandSpec spec = {
      .syntax = "DEL key...",
      .summary = "Deletes keys.",
      .since = "1.0.0",
      .complexity = "O(N), N being the number of keys and, for collections, of their elements",
      .group = CommandGroup::kGeneric,
      .flags = kWrite,
      .keys = {KeyRange(1, -1, 1, kKeyRM | kKeyDelete)},
      .tips = "request_policy:multi_shard response_policy:agg_sum"};
  static void Run(Call& call) { DeleteKeys(call, FreeLaterIf(call.services.env.settings.lazyfree_lazy_user_del)); }
};

struct Unlink {
  static constexpr CommandSpec spec = {.syntax = "UNLINK key...",
                                       .summary = "Deletes keys; large values are freed in the background.",
                                       .since = "4.0.0",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kWrite | kFast,
                                       .keys = {KeyRange(1, -1, 1, kKeyRM | kKeyDelete)},
                                       .tips = "request_policy:multi_shard response_policy:agg_sum"};
  static void Run(Call& call) { DeleteKeys(call, FreeMode::kLater); }
};

struct Exists {
  static constexpr CommandSpec spec = {.syntax = "EXISTS key...",
                                       .summary = "Counts how many of the keys exist.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly | kFast,
                                       .keys = {KeyRange(1, -1, 1, kKeyRO)},
                                       .tips = "request_policy:multi_shard response_policy:agg_sum"};
  static void Run(Call& call) {
    int64_t found = 0;
    ForEachKey(call, [&](Bytes key) { found += call.db.LookUpNoTouch(key) != nullptr ? 1 : 0; });
    call.reply.Integer(found);
  }
};

struct Touch {
  static constexpr CommandSpec spec = {.syntax = "TOUCH key...",
                                       .summary = "Marks keys as used just now and counts those that exist.",
                                       .since = "3.2.1",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly | kFast,
                                       .keys = {KeyRange(1, -1, 1, kKeyRO)},
                                       .tips = "request_policy:multi_shard response_policy:agg_sum"};
  static void Run(Call& call) {
    int64_t found = 0;
    ForEachKey(call, [&](Bytes key) { found += call.db.Use(key) != nullptr ? 1 : 0; });
    call.reply.Integer(found);
  }
};

struct Type {
  static constexpr CommandSpec spec = {.syntax = "TYPE key",
                                       .summary = "Returns the type of the value at a key.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) {
    const Entry* entry = call.db.LookUpNoTouch(call.args.Next());
    call.reply.Simple(entry == nullptr ? "none" : TypeName(entry->Type()));
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Renaming, moving, copying

enum class IfTaken : uint8_t { kOverwrite, kKeepBoth };  // what RENAME or RENAMENX does if the new name exists

// Renames a key. Throws a Refusal if the key does not exist. Returns false if the new name exists and `if_taken` says
// that it must not be replaced.
bool RenameKey(Call& call, IfTaken if_taken) {
  auto [key, new_key] = call.args.Take<Bytes, Bytes>();
  KeyEdit from = call.db.Open(key);
  if (!from) throw Refusal{refusals::kNoSuchKey};
  if (key == new_key) return if_taken == IfTaken::kOverwrite;
  KeyEdit to = call.db.Open(new_key);
  if (to && if_taken == IfTaken::kKeepBoth) return false;

  EntryPtr replaced = to ? to.Take() : nullptr;
  to.Add(EntryPtr(Entry::Rename(from.Take().release(), new_key)));
  from.ReportChange("rename_from");
  to.ReportChangeUncounted("rename_to");
  if (replaced != nullptr) FreeOverwritten(call, to, std::move(replaced));
  return true;
}

struct Rename {
  static constexpr CommandSpec spec = {.syntax = "RENAME key newkey:key",
                                       .summary = "Renames a key; replaces a key that has the new name.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kWrite,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyOW | kKeyUpdate)}};
  static void Run(Call& call) {
    RenameKey(call, IfTaken::kOverwrite);
    call.reply.Ok();
  }
};

struct RenameNx {
  static constexpr CommandSpec spec = {.syntax = "RENAMENX key newkey:key",
                                       .summary = "Renames a key if no key has the new name.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyOW | kKeyInsert)}};
  static void Run(Call& call) { call.reply.Integer(RenameKey(call, IfTaken::kKeepBoth) ? 1 : 0); }
};

struct Move {
  static constexpr CommandSpec spec = {.syntax = "MOVE key db:integer",
                                       .summary = "Moves a key to another database.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)},
                                       .database_words = [](std::span<const Bytes>) { return std::vector<size_t>{2}; },
                                       .uses_other_database = [](std::span<const Bytes>) { return true; }};
  static void Run(Call& call) {
    if (IsConfinedToOneDb(call)) throw refusals::NotInCluster("MOVE");
    auto [key, number] = call.args.Take<Bytes, Bytes>();
    const int index = ParseDbIndex(call, number);
    if (index == call.db.Index()) throw Refusal{refusals::kSameObject};
    DbView target = call.db.OtherDatabase(index);
    KeyEdit from = call.db.Open(key);
    if (!from) return call.reply.Integer(0);
    KeyEdit to = target.Open(key);
    if (to) return call.reply.Integer(0);
    to.Add(from.Take());
    from.ReportChange("move_from");
    to.ReportChangeUncounted("move_to");
    call.reply.Integer(1);
  }
};

struct CopyOptions {
  int db;
  bool replaces = false;
};

int CopyTarget(const Call& call, Bytes word) {
  const int number = ParseDbNumber(word, refusals::kNotInteger, refusals::kNotInt);
  if (IsConfinedToOneDb(call) && number != 0) throw refusals::NotInCluster("Copying to another database");
  RequireDb(call, number);
  return number;
}

// Returns whether a COPY request has the option DB. Options begin at the fourth argument.
bool NamesDatabase(std::span<const Bytes> words) {
  constexpr size_t kFirstOption = 3;
  return words.size() > kFirstOption && std::any_of(words.begin() + kFirstOption, words.end(),
                                                    [](Bytes word) { return EqualsIgnoreCase(word, "DB"); });
}

std::vector<size_t> DatabaseWordsOfCopy(std::span<const Bytes> words) {
  constexpr size_t kFirstOption = 3;
  std::vector<size_t> found;
  for (size_t at = kFirstOption; at + 1 < words.size(); ++at)
    if (EqualsIgnoreCase(words[at], "DB")) found.push_back(++at);
  return found;
}

CopyOptions ParseCopyOptions(Call& call) {
  CopyOptions options{.db = call.db.Index()};
  while (!call.args.AtEnd()) {
    if (call.args.TakeToken("REPLACE")) {
      options.replaces = true;
    } else if (call.args.TakeTokenWith("DB", 1)) {
      options.db = CopyTarget(call, call.args.Next());
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

struct Copy {
  static constexpr CommandSpec spec = {
      .syntax = "COPY source:key destination:key [DB destination-db:integer] [REPLACE]",
      .summary = "Copies a value to another key, also of another database.",
      .since = "6.2.0",
      .complexity = "O(N), N being the number of elements; O(1) for strings",
      .group = CommandGroup::kGeneric,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRO | kKeyAccess), Key(2, kKeyOW | kKeyUpdate)},
      .database_words = DatabaseWordsOfCopy,
      .uses_other_database = NamesDatabase};
  static void Run(Call& call) {
    auto [key, new_key] = call.args.Take<Bytes, Bytes>();
    const CopyOptions options = ParseCopyOptions(call);
    if (options.db == call.db.Index() && key == new_key) throw Refusal{refusals::kSameObject};
    DbView target = call.db.OtherDatabase(options.db);
    const Entry* entry = call.db.Read(key);
    if (entry == nullptr) return call.reply.Integer(0);
    KeyEdit copy = target.Open(new_key);
    if (copy && !options.replaces) return call.reply.Integer(0);
    if (entry->Type() == ValueType::kVectorSet) throw Refusal{refusals::kNotCopied};  // as in Redis
    EntryPtr replaced = copy ? copy.Take() : nullptr;
    copy.Add(EntryPtr(Entry::Clone(*entry, new_key, entry->Deadline(), entry->Access())));
    copy.ReportChange("copy_to");
    if (replaced != nullptr) FreeOverwritten(call, copy, std::move(replaced));
    call.reply.Integer(1);
  }
};

// === Key searches

bool IsHiddenEntry(const Call& call, const Entry& entry) {
  return call.services.data.dataset.keyspace.hidden().HasKey(entry.Key());
}

struct Keys {
  static constexpr CommandSpec spec = {.syntax = "KEYS pattern:pattern",
                                       .summary = "Lists the keys that match a pattern.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys in the database",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly,
                                       .categories = kAclKeyspace | kAclDangerous,
                                       .tips = "request_policy:all_shards nondeterministic_output_order"};
  static void Run(Call& call) {
    const GlobFilter filter(call.args.Next());
    std::vector<Bytes> keys;
    call.db.Data().ForEach([&](const Entry* entry) {
      if (!filter.Matches(entry->Key()) || IsHiddenEntry(call, *entry)) return;
      // As in Redis, KEYS omits expired keys but does not delete them.
      if (!entry->IsExpired(call.unit.expiry_now_ms()) && call.db.IsAlive(*entry)) keys.push_back(entry->Key());
    });
    call.reply.BulkArray(keys);
  }
};

// Scans the database, and returns the first key that has not expired and is not hidden (hidden: in a slot that is being
// imported). Returns null if there is none.
const Entry* FirstAlive(Call& call) {
  const Entry* alive = nullptr;
  uint64_t cursor = 0;
  do {
    cursor = call.db.Data().Scan(cursor, [&](const Entry* entry) {
      if (alive == nullptr && !IsHiddenEntry(call, *entry) && call.db.IsAlive(*entry)) alive = entry;
    });
  } while (alive == nullptr && cursor != 0);
  return alive;
}

const Entry* PickKey(Call& call) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const Entry* entry = call.db.Data().PickRandom(call.random);
    if (entry == nullptr) return nullptr;
    if (!IsHiddenEntry(call, *entry) && call.db.IsAlive(*entry)) return entry;
  }
  // After many random tries that found only expired or hidden keys, returns the first live key in scan order, which is
  // not random; null: there is none. The expired keys that were found on the way are removed when the command ends, but
  // only under ExpiryRule::kPurge.
  return FirstAlive(call);
}

struct RandomKey {
  static constexpr CommandSpec spec = {
      .syntax = "RANDOMKEY",
      .summary = "Returns a random key.",
      .since = "1.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kGeneric,
      .flags = kReadOnly | kTouchesArbitraryKeys,
      .tips = "request_policy:all_shards response_policy:special nondeterministic_output"};
  static void Run(Call& call) {
    const Entry* entry = PickKey(call);
    if (entry == nullptr) return call.reply.Null();
    call.reply.Bulk(entry->Key());
  }
};

struct Scan {
  static constexpr CommandSpec spec = {
      .syntax = "SCAN cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [TYPE type@6.0.0]",
      .summary = "Iterates over the keys of the database; each call returns some.",
      .since = "2.8.0",
      .complexity = "O(1) for each call, O(N) for a whole round, N being the number of keys",
      .group = CommandGroup::kGeneric,
      .flags = kReadOnly | kTouchesArbitraryKeys,
      .tips = "nondeterministic_output request_policy:special response_policy:special"};
  static void Run(Call& call) {
    const uint64_t cursor = ParseCursor(call, call.args.Next());
    const bool knows_types = call.services.env.dialect.traits.scan_refuses_unknown_types;
    const ScanOptions options =
        ParseScanOptions(call.args, knows_types ? ScanKind::kKeysOfKnownTypes : ScanKind::kKeys);
    std::vector<const Entry*> met;
    const uint64_t next =
        WalkTable(call.db.Data(), cursor, options.count, [&](const Entry* entry) { met.push_back(entry); });
    met = FilterKeys(call, options, std::move(met));
    call.reply.Array(2);
    call.reply.Bulk(IntegerText::FromUnsigned(next));
    call.reply.Array(met.size());
    for (const Entry* entry : met) call.reply.Bulk(entry->Key());
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// OBJECT

// Looks up the key of an OBJECT subcommand. If the key does not exist, replies with null and returns null.
const Entry* ExamineOrNull(Call& call) {
  const Entry* entry = call.db.LookUpNoTouchNoEvent(call.args.Next());
  if (entry == nullptr) call.reply.Null();
  return entry;
}

// Returns the name for OBJECT ENCODING. For a listpack, the emulated version may have another encoding: ziplist,
// quicklist or hashtable. Valkey has hashtable instead of listpackex.
std::string_view EncodingNameIn(const DialectTraits& traits, const Entry& entry) {
  const std::string_view name = EncodingName(entry);
  if (name == "listpackex" && traits.hash_field_grammar == HashFieldGrammar::kValkey) return "hashtable";
  if (name != "listpack") return name;
  if (entry.Type() == ValueType::kList) return traits.small_lists_are_listpacks ? name : "quicklist";
  if (entry.Type() == ValueType::kSet) return traits.small_sets_are_listpacks ? name : "hashtable";
  return traits.has_listpacks ? name : "ziplist";
}

struct ObjectEncoding {
  static constexpr CommandSpec spec = {.syntax = "OBJECT|ENCODING key",
                                       .summary = "Returns the encoding of a value.",
                                       .since = "2.2.3",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Entry* entry = ExamineOrNull(call);
    if (entry != nullptr) call.reply.Bulk(EncodingNameIn(call.services.env.dialect.traits, *entry));
  }
};

struct ObjectFreq {
  static constexpr CommandSpec spec = {.syntax = "OBJECT|FREQ key",
                                       .summary = "Returns how often a key is used, on a logarithmic scale.",
                                       .since = "4.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Entry* entry = ExamineOrNull(call);
    if (entry == nullptr) return;
    if (!call.services.data.dataset.usage.IsLfu()) throw Refusal{refusals::kFrequencyWithoutLfu};
    call.reply.Integer(call.services.data.dataset.usage.Frequency(entry->Access(), call.now_ms));
  }
};

struct ObjectIdleTime {
  static constexpr CommandSpec spec = {.syntax = "OBJECT|IDLETIME key",
                                       .summary = "Returns the seconds since a key was last used.",
                                       .since = "2.2.3",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Entry* entry = ExamineOrNull(call);
    if (entry == nullptr) return;
    if (call.services.data.dataset.usage.IsLfu()) throw Refusal{refusals::kIdleTimeUnderLfu};
    call.reply.Integer(KeyUsage::IdleSeconds(entry->Access(), call.now_ms));
  }
};

struct ObjectRefCount {
  static constexpr CommandSpec spec = {.syntax = "OBJECT|REFCOUNT key",
                                       .summary = "Returns the number of references to a value.",
                                       .since = "2.2.3",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Entry* entry = ExamineOrNull(call);
    if (entry == nullptr) return;
    call.reply.Integer(ReferenceCount(*entry, call.services.env.settings));
  }
};

struct ObjectHelp {
  static constexpr CommandSpec spec = {.syntax = "OBJECT|HELP",
                                       .summary = "Lists the subcommands.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"ENCODING <key>", "    Tell how the value is stored.", "FREQ <key>",
                     "    Tell how often the key is used, on a logarithmic scale (LFU policies only).",
                     "IDLETIME <key>", "    Tell for how many seconds the key was not used (not under LFU policies).",
                     "REFCOUNT <key>", "    Tell how many references the value has."});
  }
};

struct ObjectContainer {
  static constexpr CommandSpec spec = {.syntax = "OBJECT",
                                       .summary = "Shows how values are stored.",
                                       .since = "2.2.3",
                                       .group = CommandGroup::kGeneric,
                                       .arity = -2};
};

constexpr auto kKeyCommands =
    Family<Copy, Del, Exists, Keys, Move, ObjectContainer, ObjectEncoding, ObjectFreq, ObjectHelp, ObjectIdleTime,
           ObjectRefCount, RandomKey, Rename, RenameNx, Scan, Touch, Type, Unlink>();

}  // namespace

std::span<const CommandCard> KeyCommands() { return kKeyCommands; }

}  // namespace respite
