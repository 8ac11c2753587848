// SORT and SORT_RO: parses options, loads the elements, orders them, and replies or stores.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/key_slot.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/clients/acl/user.h"
#include "server/commands/data/collation.h"
#include "server/commands/data/sort_order.h"
#include "server/commands/data/sort_pattern.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kSortByDenied[] = "ERR BY option of SORT denied due to insufficient ACL permissions.";
constexpr char kSortGetDenied[] = "ERR GET option of SORT denied due to insufficient ACL permissions.";
constexpr char kNotSortable[] = "ERR One or more scores can't be converted into double";

Refusal SortInCluster(Bytes option, const DialectTraits& traits) {
  return {"ERR " + std::string(option) + " option of SORT denied in Cluster mode" +
          std::string(traits.sort_in_cluster) + "."};
}

}  // namespace
}  // namespace refusals

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// The options of SORT

struct SortOptions {
  SortDirection direction = SortDirection::kUp;
  bool by_text = false;  // ALPHA
  bool sorts = true;     // false: BY with a pattern without a star
  int64_t offset = 0;
  int64_t count = -1;  // negative: all
  std::optional<SortPattern> by = std::nullopt;
  std::vector<SortPattern> get = {};
  std::optional<Bytes> destination = std::nullopt;
  bool is_portable = true;  // false: a number may be one for this version only
};

enum class MayStore : uint8_t { kNo, kYes };

SortOptions ParseSortOptions(Args& args, MayStore may_store) {
  SortOptions options;
  while (!args.AtEnd()) {
    if (args.TakeToken("ASC")) {
      options.direction = SortDirection::kUp;
    } else if (args.TakeToken("DESC")) {
      options.direction = SortDirection::kDown;
    } else if (args.TakeToken("ALPHA")) {
      options.by_text = true;
    } else if (args.TakeTokenWith("LIMIT", 2)) {
      options.offset = args.NextInteger();
      options.count = args.NextInteger();
    } else if (may_store == MayStore::kYes && args.TakeTokenWith("STORE", 1)) {
      options.destination = args.Next();
    } else if (args.TakeTokenWith("BY", 1)) {
      options.by.emplace(args.Next());
      options.sorts = options.sorts && options.by->HasStar();  // Redis: one pattern without a star is enough
    } else if (args.TakeTokenWith("GET", 1)) {
      options.get.emplace_back(args.Next());
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

SortRange SortRangeOf(const SortOptions& options, size_t size) {
  const auto length = static_cast<int64_t>(size);
  const int64_t first = std::clamp<int64_t>(options.offset, 0, length);
  const int64_t most = length - first;
  const int64_t count = options.count < 0 ? most : std::min(options.count, most);
  return {static_cast<size_t>(first), static_cast<size_t>(count)};
}

// Returns whether all keys that the pattern can name are in the slot of the sorted key. Returns false in versions in
// which SORT refuses every pattern in a cluster. `GET #` reads no key, although Redis 7.4.0 and 7.4.1 refused it.
bool StaysInSlot(const Call& call, const SortPattern& pattern) {
  if (!call.services.env.dialect.traits.sort_may_use_own_slot) return false;
  return pattern.text() == "#" || PatternSlot(pattern.text()) == KeySlot(call.args.Words()[1]);
}

// In a cluster, refuses patterns of BY and GET that may name keys in other slots, because other nodes may have these
// keys. Refuses all patterns if the emulated version does so (sort_may_use_own_slot).
void CheckSlots(const Call& call, const SortOptions& options) {
  const DialectTraits& traits = call.services.env.dialect.traits;
  const bool by_keys = options.by && options.by->HasStar();
  if (by_keys && !StaysInSlot(call, *options.by)) throw refusals::SortInCluster("BY", traits);
  const bool all_stay =
      std::ranges::all_of(options.get, [&](const SortPattern& each) { return StaysInSlot(call, each); });
  if (!all_stay) throw refusals::SortInCluster("GET", traits);
}

// Refuses BY with a pattern, and GET, if the user may not read all keys. A replayed SORT is not checked. Key specs
// cannot describe the keys that a pattern names, so permissions for single keys cannot be checked. In a cluster, first
// calls CheckSlots.
void CheckPatterns(const Call& call, const SortOptions& options) {
  if (call.unit.IsReplaying()) return;
  const bool by_keys = options.by && options.by->HasStar();
  if (!by_keys && options.get.empty()) return;
  if (call.services.env.settings.cluster_enabled) CheckSlots(call, options);
  if (call.session.user->IsUnlimited()) return;
  if (call.session.user->AllowsReadingAllKeys(call.command, call.args.Words())) return;
  throw Refusal{by_keys ? refusals::kSortByDenied : refusals::kSortGetDenied};
}

// ---------------------------------------------------------------------------------------------------------------------
// Loading the elements

// The value that SORT sorts: a list, a set, a sorted set, or nothing if the key does not exist.
class SortSource {
 public:
  SortSource(Call& call, Bytes key) : db_(call.db), entry_(call.db.Read(key)) {
    if (entry_ == nullptr || IsA(ValueType::kList) || IsA(ValueType::kSet) || IsA(ValueType::kSortedSet)) return;
    throw Refusal{refusals::kWrongType};
  }

  bool IsSet() const { return entry_ != nullptr && IsA(ValueType::kSet); }
  size_t Size() const {
    if (entry_ == nullptr) return 0;
    if (IsA(ValueType::kList)) return db_.View<List>(entry_).Size();
    return IsA(ValueType::kSet) ? db_.View<Set>(entry_).Size() : db_.View<SortedSet>(entry_).Size();
  }

  // Loads the elements in `range`. With kDown, position 0 is the last element of a list or sorted set, and the elements
  // are loaded backwards. For a set, `direction` has no effect.
  TextPool Load(SortRange range, SortDirection direction) const {
    TextPool pool;
    pool.Reserve(range.count);
    if (range.count == 0) return pool;
    if (IsA(ValueType::kList)) {
      LoadList(db_.View<List>(entry_), range, direction, pool);
    } else if (IsA(ValueType::kSet)) {
      LoadSet(db_.View<Set>(entry_), range, pool);
    } else {
      LoadSortedSet(db_.View<SortedSet>(entry_), range, direction, pool);
    }
    return pool;
  }

 private:
  bool IsA(ValueType type) const { return entry_->Type() == type; }

  static void LoadList(const List& list, SortRange range, SortDirection direction, TextPool& pool) {
    const bool down = direction == SortDirection::kDown;
    ListCursor cursor(list, down ? list.Size() - 1 - range.first : range.first);
    for (size_t left = range.count; left > 0; --left) {
      pool.Add(cursor.Element());
      down ? cursor.Previous() : cursor.Next();
    }
  }
  static void LoadSet(const Set& set, SortRange range, TextPool& pool) {
    size_t index = 0;
    set.ForEachWhile([&](const PackedElement& member) {
      if (index++ >= range.first) pool.Add(ElementText(member).View());
      return pool.Size() < range.count;
    });
  }
  static void LoadSortedSet(const SortedSet& set, SortRange range, SortDirection direction, TextPool& pool) {
    const bool down = direction == SortDirection::kDown;
    const size_t first = down ? set.Size() - range.first - range.count : range.first;
    set.ForEach({first, range.count}, down ? Direction::kDown : Direction::kUp,
                [&](Bytes member, double) { pool.Add(member); });
  }

  DbView db_;
  const Entry* entry_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Ordering the elements

// Returns the number of a text, or nullopt. As Redis does (strtod), skips leading white space, stops at a NUL byte, and
// reads an empty text as 0.
std::optional<double> SortNumber(Bytes text) {
  if (text.size() <= 15)
    if (const auto integer = ParseInteger(text)) return static_cast<double>(*integer);
  if (const auto number = ParseDouble(text)) return number;
  text = text.substr(0, text.find('\0'));
  if (text.empty()) return 0;
  size_t begin = 0;
  while (begin < text.size() && IsSpace(text[begin])) ++begin;
  return ParseDouble(text.substr(begin));
}

// Returns true if the text has only digits, signs (-) and points. Not all versions read other texts alike, such as
// 0x10, inf, 1e3 and the empty text.
bool HasOnlyDecimalCharacters(Bytes text) {
  return !text.empty() && text.find_first_not_of("-.0123456789") == Bytes::npos;
}

// Calls visit(Bytes weight) for each element, in the order of the elements. Calls visit(nullopt) if BY finds no weight
// for an element.
template <class Visit>
void ForEachWeight(Call& call, SortPattern& by, std::span<const Bytes> elements, Visit&& visit) {
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i % DbView::kPrefetchAhead == 0) by.PrefetchValues(call.db, elements.subspan(i));
    if (!by.VisitValue(call.db, elements[i], [&](Bytes weight) { visit(std::optional(weight)); })) visit(std::nullopt);
  }
}

std::vector<size_t> SelectByNumber(Call& call, SortOptions& options, std::span<const Bytes> elements, SortRange range) {
  SortOrder order(options.direction, elements);
  bool failed = false;
  auto add = [&](std::optional<Bytes> weight) {
    const auto number = weight ? SortNumber(*weight) : 0;  // Redis: a missing weight counts as 0
    failed = failed || !number;
    options.is_portable = options.is_portable && weight && HasOnlyDecimalCharacters(*weight);
    order.AddNumber(number.value_or(0));
  };
  if (options.by) {
    ForEachWeight(call, *options.by, elements, add);
  } else {
    for (Bytes element : elements) add(element);
  }
  if (failed) throw Refusal{refusals::kNotSortable};
  return order.Select(range);
}

// Prepares texts for the comparison by collation that SORT ALPHA uses. (As in Redis, SORT … STORE compares bytes
// instead.) Cuts the texts at their first NUL byte. Unless the locale compares by bytes, replaces the texts by sort
// keys. The result owns these sort keys, so it must live as long as `texts`. Without sort keys, the result is empty.
std::vector<std::string> Collate(Call& call, std::vector<Bytes>& texts) {
  for (Bytes& text : texts) text = text.substr(0, text.find('\0'));
  const Collation collation(call.services.env.settings.locale_collate);
  std::vector<std::string> keys;
  if (collation.ByBytes()) return keys;
  keys.reserve(texts.size());
  for (Bytes& text : texts) text = keys.emplace_back(collation.KeyOf(text));
  return keys;
}

std::vector<size_t> SelectByText(Call& call, SortOptions& options, std::span<const Bytes> elements, SortRange range) {
  TextPool pool;
  std::vector<size_t> missing;
  if (options.by) {
    ForEachWeight(call, *options.by, elements, [&](std::optional<Bytes> weight) {
      if (!weight) missing.push_back(pool.Size());
      pool.Add(weight.value_or(Bytes()));
    });
  }
  std::vector<Bytes> texts = options.by ? pool.Views() : std::vector<Bytes>(elements.begin(), elements.end());
  std::vector<std::string> keys;
  if (!options.destination) keys = Collate(call, texts);
  for (size_t index : missing) texts[index] = Bytes();
  SortOrder order(options.direction, elements);
  order.SetTexts(texts);
  return order.Select(range);
}

// ---------------------------------------------------------------------------------------------------------------------
// Replying with the results, or storing them

// Calls visit(std::optional<Bytes>) for each value of the result of SORT. Each element has one value, or one for each
// option GET; nullopt: GET finds no value.
template <class Visit>
void ForEachResult(Call& call, SortOptions& options, std::span<const Bytes> elements, Visit&& visit) {
  for (Bytes element : elements) {
    if (options.get.empty()) visit(std::optional(element));
    for (SortPattern& pattern : options.get)
      if (!pattern.VisitValue(call.db, element, [&](Bytes value) { visit(std::optional(value)); })) visit(std::nullopt);
  }
}

void ReplyResults(Call& call, SortOptions& options, std::span<const Bytes> elements) {
  call.reply.Array(elements.size() * std::max<size_t>(options.get.size(), 1));
  ForEachResult(call, options, elements,
                [&](std::optional<Bytes> value) { value ? call.reply.Bulk(*value) : call.reply.Null(); });
}

EntryPtr BuildList(Call& call, Bytes key, const std::vector<Bytes>& elements) {
  Database room(call.db.Data().hash_key());
  Entry* entry = room.Add(EntryPtr(
      Entry::CreatePacked(key, List::kType, List::kInitialForm, List::InitialPacked(), 0, call.db.NewKeyUsage())));
  List list({.slot = ValueSlot(room, entry), .limits = call.db.Limits(), .now_ms = call.now_ms});
  // SORT … STORE pushes one element at a time. A push of several elements would choose the encoding by the sum of their
  // lengths, not by their packed size.
  for (const Bytes element : elements) list.Push(ListEnd::kTail, {&element, 1});
  return room.Take(list.slot().entry());
}

// For SORT with STORE: propagates DEL and RPUSH of the result instead of the request if a replica might compute another
// result. Hash fields that BY or GET reads may have expired here but still exist on the replica, and versions differ in
// what they accept as a number.
void RecordStoredList(Call& call, const SortOptions& options, const std::vector<Bytes>& elements) {
  constexpr size_t kPerCommand = 1000;
  const bool is_equal_everywhere = options.is_portable && !options.by && options.get.empty();
  if (is_equal_everywhere || !call.effect.IsRecording()) return;
  const Bytes key = *options.destination;
  call.effect.Replace("DEL", key);
  for (size_t first = 0; first < elements.size(); first += kPerCommand) {
    const size_t end = std::min(elements.size(), first + kPerCommand);
    std::vector<std::string> words = {"RPUSH", std::string(key)};
    for (size_t i = first; i < end; ++i) words.emplace_back(elements[i]);
    call.effect.Replace(words);
  }
}

void StoreResults(Call& call, SortOptions& options, std::span<const Bytes> elements) {
  TextPool pool;  // a copy, since the replaced key may contain the results
  ForEachResult(call, options, elements, [&](std::optional<Bytes> value) { pool.Add(value.value_or(Bytes())); });
  const std::vector<Bytes> values = pool.Views();
  RecordStoredList(call, options, values);
  EntryPtr list = values.empty() ? nullptr : BuildList(call, *options.destination, values);
  StoreOrDelete(call, *options.destination, std::move(list), "sortstore", pool.Size());
  call.reply.Integer(static_cast<int64_t>(pool.Size()));
}

void SortKey(Call& call, MayStore may_store) {
  const Bytes key = call.args.Next();
  SortOptions options = ParseSortOptions(call.args, may_store);
  CheckPatterns(call, options);
  const SortSource source(call, key);
  if (!options.sorts && source.IsSet() && (options.destination || call.session.IsScript())) {
    // A set has no order of its own. So, as in Redis, SORT sorts its elements as text in spite of BY nosort if the
    // result is stored, or used in a script. The result is then equal on all servers.
    options.sorts = true;
    options.by_text = true;
    options.by.reset();
  }
  const SortRange range = SortRangeOf(options, source.Size());
  const TextPool pool =
      options.sorts ? source.Load({0, source.Size()}, SortDirection::kUp) : source.Load(range, options.direction);
  std::vector<Bytes> elements = pool.Views();
  // Sorts the elements of a set before SORT … STORE stores a result, because elements that compare as equal keep this
  // order. The result must not depend on the order in the set's hash table.
  if (options.destination && source.IsSet()) std::sort(elements.begin(), elements.end());
  if (options.sorts) {
    const std::vector<size_t> indexes =
        (options.by_text ? SelectByText : SelectByNumber)(call, options, elements, range);
    std::vector<Bytes> sorted;
    sorted.reserve(indexes.size());
    for (size_t index : indexes) sorted.push_back(elements[index]);
    elements = std::move(sorted);
  }
  options.destination ? StoreResults(call, options, elements) : ReplyResults(call, options, elements);
}

struct Sort {
  static constexpr CommandSpec spec = {
      .syntax =
          "SORT key [BY by-pattern<pattern>:pattern#1] [LIMIT limit{offset:integer count:integer}] [GET... "
          "get-pattern<pattern>:pattern#1] [order(ASC|DESC)] [sorting=ALPHA] [STORE destination:key#2]",
      .summary = "Sorts the elements of a list, set or sorted set, by themselves or by other keys, and may store them.",
      .since = "1.0.0",
      .complexity = "O(N+M*log(M)), N being the number of elements, M the number of those returned",
      .group = CommandGroup::kGeneric,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRO | kKeyAccess), UnknownKeys(kKeyRO | kKeyAccess), UnknownKeys(kKeyOW | kKeyUpdate)},
      .categories = kAclSet | kAclSortedSet | kAclList | kAclDangerous,
      .find_keys = KeysOfSort};
  static void Run(Call& call) { SortKey(call, MayStore::kYes); }
};

struct SortRo {
  static constexpr CommandSpec spec = {
      .syntax =
          "SORT_RO key [BY by-pattern<pattern>:pattern#1] [LIMIT limit{offset:integer count:integer}] "
          "[GET... get-pattern<pattern>:pattern#1] [order(ASC|DESC)] [sorting=ALPHA]",
      .summary = "Sorts the elements of a list, set or sorted set, by themselves or by other keys.",
      .since = "7.0.0",
      .complexity = "O(N+M*log(M)), N being the number of elements, M the number of those returned",
      .group = CommandGroup::kGeneric,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess), UnknownKeys(kKeyRO | kKeyAccess)},
      .categories = kAclSet | kAclSortedSet | kAclList | kAclDangerous,
      .find_keys = KeysOfSortRo};
  static void Run(Call& call) { SortKey(call, MayStore::kNo); }
};

constexpr auto kSortCommands = Family<Sort, SortRo>();

}  // namespace

std::span<const CommandCard> SortCommands() { return kSortCommands; }

}  // namespace respite
