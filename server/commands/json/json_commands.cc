// Commands that set, read, merge, delete and clear values of JSON documents.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "datatypes/json/json_text.h"
#include "server/commands/families.h"
#include "server/commands/json/json_erase.h"
#include "server/commands/json/json_float_arrays.h"
#include "server/commands/json/json_words.h"
#include "server/dataset/lazy_free.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNotAtRoot[] = "ERR new objects must be created at the root";
constexpr char kNoStaticPath[] = "Err wrong static path";
constexpr char kJsonIndexOutOfRange[] = "ERR array index out of range";
constexpr char kFormatTooLong[] = "ERR INDENT, NEWLINE and SPACE may have at most 1024 bytes";

}  // namespace
}  // namespace refusals

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Setting values

enum class JsonCondition : uint8_t { kNone, kIfAbsent, kIfPresent };

// The change that a command will make to one document. A command plans and checks all its changes before it makes the
// first one.
struct JsonAssignment {
  Bytes key;
  Bytes path_text;
  Bytes value_text;
  JsonCondition condition = JsonCondition::kNone;
  Bytes float_type = {};  // FPHA; empty: none
  JsonPath path = {};     // after Check
  JsonValue value = {};   // after Check
  bool is_made = true;    // false: the path had no place for the value, so the change was not made

  bool IsAtRoot() const { return path_text == "$" || path_text == "."; }  // true: the path is the whole document
};

// Returns the object to which a path that matches nothing would add a member; null: there is no such object. Throws a
// Refusal if the path is not static, or if its last step is an index.
JsonValue* ParentOfNewMember(const JsonPath& path, const JsonValue& root) {
  if (!path.IsStatic()) throw Refusal{refusals::kNoStaticPath};
  if (path.Steps().back().kind != JsonStep::Kind::kNames) throw Refusal{refusals::kJsonIndexOutOfRange};
  JsonBudget budget;
  const JsonMatches parents = path.SelectParents(root, budget);
  const bool has_object = !parents.empty() && parents.front().Value().Is(JsonKind::kObject);
  return has_object ? const_cast<JsonValue*>(parents.front().InMemory()) : nullptr;
}

// Sets the values that a path selects. If the path selects none, adds the member that the path names. Returns false and
// changes nothing if NX or XX forbids the change, or if there is no object for the new member. Throws a Refusal if the
// path is not static but would have to be: for a new member, or with NX; and if `budget` is spent.
template <class Apply>
bool AssignInside(JsonBudget& budget, JsonValue& root, JsonAssignment& assignment, Apply&& apply) {
  const JsonPath& path = assignment.path;
  const std::vector<JsonValue*> targets = SelectJsonTargets(path, root, budget).Distinct();
  if (!targets.empty()) {
    if (assignment.condition == JsonCondition::kIfAbsent && !path.IsStatic()) throw Refusal{refusals::kNoStaticPath};
    if (assignment.condition == JsonCondition::kIfAbsent) return false;
    CheckJsonDepth(path, root, 0, assignment.value.Depth());
    SpendForCopies(budget, {&assignment.value, 1}, targets.size());
    for (size_t i = targets.size(); i-- > 0;) {
      apply(*targets[i], i == 0 ? std::move(assignment.value) : assignment.value.Clone());
    }
    return true;
  }
  if (assignment.condition == JsonCondition::kIfPresent) return false;
  JsonValue* parent = ParentOfNewMember(path, root);
  if (parent == nullptr) return false;
  CheckJsonDepth(path, root, 0, assignment.value.Depth());
  parent->Set(path.Steps().back().names.front(), std::move(assignment.value));
  return true;
}

void ReplaceValue(JsonValue& target, JsonValue value) { target = std::move(value); }

// Removes the members that are null from an object, and from the objects that are its members. As RFC 7396 says, this
// is the result of merging the object into an empty object.
void EraseNulls(JsonValue& object) {
  object.EraseIf([&](size_t i) { return object.Members()[i].value.Is(JsonKind::kNull); });
  for (JsonMember& member : object.Members()) {
    if (member.value.Is(JsonKind::kObject)) EraseNulls(member.value);
  }
}

// The order of the members of an object while a patch is merged into the object. As in Redis, the last member takes the
// place of a removed one.
class MergedMembers {
 public:
  explicit MergedMembers(JsonValue& object) : object_(object), order_(object.Size()), places_(object.Size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::iota(places_.begin(), places_.end(), 0U);
  }

  void Erase(size_t member) {
    const uint32_t last = order_.back();
    order_[places_[member]] = last;
    places_[last] = places_[member];
    order_.pop_back();
  }
  void Add(JsonMember member) {
    places_.push_back(static_cast<uint32_t>(order_.size()));
    order_.push_back(static_cast<uint32_t>(object_.Size() + added_.size()));
    added_.push_back(std::move(member));
  }
  void Store() { object_.Arrange(order_, added_); }

 private:
  JsonValue& object_;
  std::vector<uint32_t> order_;   // the numbers of the members; those of new members begin at object_.Size()
  std::vector<uint32_t> places_;  // where in `order_` each member is
  std::vector<JsonMember> added_;
};

// Merges `patch` into `target` as RFC 7396 says: if both are objects, removes the members that are null in the patch,
// and merges the other members of the patch. Otherwise the patch replaces the target.
// Cost: O(n + k*log k) for each object with n members, into which k members are merged.
void MergeJson(JsonValue& target, JsonValue patch) {
  if (!patch.Is(JsonKind::kObject)) {
    target = std::move(patch);
    return;
  }
  if (!target.Is(JsonKind::kObject) || target.Size() == 0) {
    EraseNulls(patch);
    target = std::move(patch);
    return;
  }
  std::optional<MergedMembers> merged;  // nullopt: no member is removed
  const auto is_null = [](const JsonMember& member) { return member.value.Is(JsonKind::kNull); };
  if (std::ranges::any_of(patch.Members(), is_null)) merged.emplace(target);
  const std::vector<JsonValue*> old_values = target.FindEach(patch.Members(), patch.MembersByName());
  std::vector<JsonMember> added;
  for (size_t i = 0; i < old_values.size(); ++i) {
    JsonMember& member = patch.Members()[i];
    JsonValue* old_value = old_values[i];
    if (is_null(member)) {
      if (old_value != nullptr) merged->Erase(PlaceInJson(target, *old_value));
    } else if (old_value != nullptr) {
      MergeJson(*old_value, std::move(member.value));
    } else {
      if (member.value.Is(JsonKind::kObject)) EraseNulls(member.value);
      merged ? merged->Add(std::move(member)) : added.push_back(std::move(member));
    }
  }
  merged ? merged->Store() : target.AppendMembers(added);
}

JsonAssignment TakeAssignment(Call& call) {
  const Bytes key = call.args.Next();
  const Bytes path = TakeJsonText(call);
  return {key, path, TakeJsonText(call)};
}

// Creates a key with a new document. Returns false if XX was given. Throws a Refusal if the path is not the root.
bool CreateDocument(Call& call, JsonAssignment& assignment, const KeyEvent& event) {
  if (assignment.condition == JsonCondition::kIfPresent) return false;
  if (!assignment.IsAtRoot()) throw Refusal{refusals::kNotAtRoot};
  Edit<Json> document = call.db.OpenOrCreate<Json>(assignment.key);
  document->Document().root() = std::move(assignment.value);
  document.ReportChange(event);
  return true;
}

// Creates a document, or changes one with `apply`. Returns false if NX or XX forbids the change, or if the path has no
// place for the value.
template <class Apply>
bool Assign(Call& call, JsonAssignment& assignment, const KeyEvent& event, Apply&& apply) {
  const bool exists = PeekJson(call, assignment.key) != nullptr;
  assignment.value = ParseJsonArgument(assignment.value_text, JsonErrorPrefix::kNone);
  if (!assignment.float_type.empty()) RoundFloatArrays(assignment.value, assignment.float_type);
  if (!exists) return CreateDocument(call, assignment, event);
  assignment.path = ParseJsonPath(call, assignment.path_text);
  Edit<Json> document = call.db.Open<Json>(assignment.key);
  JsonBudget budget;
  if (!AssignInside(budget, document->Document().root(), assignment, apply)) return false;
  document.ReportChange(event);
  return true;
}

struct JsonSet {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.SET key path value [condition(NX|XX)] [FPHA fpha-type(FP16|BF16|FP32|FP64)@8.8.0]",
      .summary = "Sets or replaces values in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(M+N) for a path with one match, M and N being the sizes of the old and the new value",
      .group = CommandGroup::kModule,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    JsonAssignment assignment = TakeAssignment(call);
    while (!call.args.AtEnd()) TakeOption(call, assignment);
    Assign(call, assignment, "json.set", ReplaceValue) ? call.reply.Ok() : call.reply.Null();
  }

 private:
  static void TakeOption(Call& call, JsonAssignment& assignment) {
    const bool is_new = assignment.condition == JsonCondition::kNone;
    if (is_new && call.args.TakeToken("NX")) {
      assignment.condition = JsonCondition::kIfAbsent;
    } else if (is_new && call.args.TakeToken("XX")) {
      assignment.condition = JsonCondition::kIfPresent;
    } else if (call.args.TakeToken("FPHA")) {
      assignment.float_type = call.args.Next();
    } else {
      TakeJsonText(call);  // throws if the word is not UTF-8
      throw Refusal{refusals::kSyntax};
    }
  }
};

struct JsonMerge {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.MERGE key path value",
      .summary = "Merges a JSON value into values of a document, as RFC 7396 describes.",
      .since = "8.0.0",
      .complexity = "O(M+N) for a path with one match, M and N being the sizes of the old and the new value",
      .group = CommandGroup::kModule,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)},
      .arity = -4};
  static void Run(Call& call) {
    JsonAssignment assignment = TakeAssignment(call);
    call.args.ExpectEnd();
    Assign(call, assignment, "json.merge", MergeJson) ? call.reply.Ok() : call.reply.Null();
  }
};

struct JsonMSet {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.MSET triplet{key path value}...",
      .summary = "Sets or replaces values in several JSON documents. Either all triplets are executed, or none.",
      .since = "8.0.0",
      .complexity = "O(K*(M+N)), K being the number of keys, M and N the sizes of an old and a new value",
      .group = CommandGroup::kModule,
      .flags = kWrite | kDenyOom,
      .keys = {KeyRange(1, -1, 3, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    std::vector<JsonAssignment> assignments;
    JsonBudget budget;
    while (!call.args.AtEnd()) assignments.push_back(TakeChecked(call, budget));
    auto results = ResultsOfRepeated(call, assignments, budget);
    for (JsonAssignment& assignment : assignments) {
      Edit<Json> document = call.db.OpenOrCreate<Json>(assignment.key);
      const auto result = results.find(assignment.key);
      if (result == results.end()) {
        JsonBudget unlimited(UINT64_MAX);  // TakeChecked has counted the steps
        assignment.is_made = AssignInside(unlimited, document->Document().root(), assignment, ReplaceValue);
      } else if (result->second) {
        document->Document().root() = std::move(*std::exchange(result->second, std::nullopt));
      }
      // As in Redis, a triplet that sets nothing counts as a change, but sends no event.
      assignment.is_made ? document.ReportChange("json.mset") : document.ReportChangeWithoutEvent();
    }
    call.reply.Ok();
  }

 private:
  // Takes the key, path and value of one assignment of JSON.MSET, and checks it against the present documents. Throws a
  // Refusal if the assignment cannot be executed now. As in Redis, a document that an earlier assignment will create
  // counts as absent. Each argument is checked before the next is taken, so its error is reported even if the next is
  // missing. `budget`: limit of work for all assignments of the request.
  static JsonAssignment TakeChecked(Call& call, JsonBudget& budget) {
    const Bytes key = call.args.Next();
    const JsonValue* root = PeekJson(call, key);
    JsonAssignment assignment{key, TakeArgument(call), {}};
    if (root == nullptr && !assignment.IsAtRoot()) throw Refusal{refusals::kNotAtRoot};
    assignment.path = ParseJsonPath(call, assignment.path_text);
    const bool is_inside = root != nullptr && !assignment.path.IsRoot();
    size_t targets = 0;
    if (is_inside) {
      targets = SelectJsonValues(assignment.path, *root, budget).size();
      if (targets == 0) ParentOfNewMember(assignment.path, *root);
    }
    assignment.value_text = TakeArgument(call);
    assignment.value = ParseJsonArgument(assignment.value_text, JsonErrorPrefix::kNone);
    if (is_inside) CheckJsonDepth(assignment.path, *root, 0, assignment.value.Depth());
    SpendForCopies(budget, {&assignment.value, 1}, targets);
    return assignment;
  }
  static Bytes TakeArgument(Call& call) {
    if (call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    return TakeJsonText(call);
  }
  // Returns the documents of the keys that occur several times, as they are after all their assignments. One assignment
  // may enlarge a document, so that the next takes more steps than TakeChecked has counted. So they are made on a copy;
  // throws a Refusal if `budget` is spent. An assignment to a path that has no place any more changes nothing.
  static std::map<Bytes, std::optional<JsonValue>> ResultsOfRepeated(Call& call,
                                                                     std::vector<JsonAssignment>& assignments,
                                                                     JsonBudget& budget) {
    std::map<Bytes, size_t> times;
    for (const JsonAssignment& assignment : assignments) ++times[assignment.key];
    std::map<Bytes, std::optional<JsonValue>> results;
    for (JsonAssignment& assignment : assignments) {
      if (times[assignment.key] == 1) continue;
      const auto [result, is_first] = results.try_emplace(assignment.key, JsonValue());
      const JsonValue* root = is_first && !assignment.IsAtRoot() ? PeekJson(call, assignment.key) : nullptr;
      if (root != nullptr) {
        if (!budget.SpendCopy(*root)) SpendJsonSteps(budget, 0);
        result->second = root->Clone();
      }
      try {
        assignment.is_made = AssignInside(budget, *result->second, assignment, ReplaceValue);
      } catch (const Refusal&) {
        if (budget.IsSpent()) throw;
        assignment.is_made = false;
      }
    }
    return results;
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Reading values

struct ReadBudgets {     // limits the work of one command, for all its paths and keys together
  JsonBudget selection;  // the values that are visited, and the work of computations
  JsonBudget reply;      // the values in replies, if a path may select a value many times
};

void CheckReplySize(const std::string& text, const JsonFormat& format) {
  if (text.size() > format.max_bytes) throw Refusal{refusals::kJsonReplyTooLong};
}

// Appends a value as JSON. Throws a Refusal if the text becomes longer than format.max_bytes. If indents and newlines
// alone would exceed this limit, throws before it writes anything.
void AppendChecked(std::string& text, const JsonValue& value, const JsonFormat& format, size_t level) {
  const bool has_layout = !format.indent.empty() || !format.newline.empty() || !format.space.empty();
  if (has_layout && JsonLayoutBytes(value, format, level) > format.max_bytes)
    throw Refusal{refusals::kJsonReplyTooLong};
  AppendJson(text, value, format, level);
  CheckReplySize(text, format);
}

// Appends the values that a path selects: all of them as an array, or only the first one if `as_array` is false.
// Returns false if `as_array` is false and the path selects nothing. Throws a Refusal if one of the `budgets` (limits
// of the work) is used up, or if the text becomes longer than format.max_bytes.
bool AppendSelected(ReadBudgets& budgets, std::string& text, const JsonPath& path, const JsonValue& root, bool as_array,
                    const JsonFormat& format, size_t level) {
  std::vector<JsonValue> computed;
  JsonMatches matches;
  std::vector<const JsonValue*> values;  // in `computed` or `matches`
  if (path.IsExpression()) {
    computed = path.Compute(root, budgets.selection);
    // Throws if the budget is used up, because the computed values are incomplete then.
    SpendJsonSteps(budgets.selection, 0);
    for (const JsonValue& value : computed) values.push_back(&value);
  } else {
    matches = SelectJsonValues(path, root, budgets.selection);
    for (const JsonMatch& match : matches) values.push_back(&match.Value());
  }
  if (!as_array) {
    if (values.empty()) return false;
    AppendChecked(text, *values.front(), format, level);
    return true;
  }
  const auto begin_line = [&](size_t depth) {
    text += format.newline;
    for (size_t i = 0; i < depth; ++i) text += format.indent;
  };
  text += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (values.size() > 1) SpendForReply(budgets.reply, *values[i]);
    if (i != 0) text += ',';
    begin_line(level + 1);
    AppendChecked(text, *values[i], format, level + 1);  // paths may select a large value many times
  }
  if (!values.empty()) begin_line(level);
  text += ']';
  CheckReplySize(text, format);
  return true;
}

std::optional<JsonPath> ParseOrIgnore(const Call& call, Bytes text) {  // nullopt: the path is malformed
  try {
    return ParseJsonPath(call, text);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

struct JsonGet {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.GET key [INDENT indent] [NEWLINE newline] [SPACE space] [path...]",
      .summary = "Returns values of a JSON document as JSON.",
      .since = "8.0.0",
      .complexity = "O(N) for a path with one match, N being the size of the value",
      .group = CommandGroup::kModule,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    JsonFormat format{.max_bytes = call.MaxStringBytes()};
    ReadBudgets budgets;
    std::vector<Bytes> paths;
    while (!call.args.AtEnd()) TakeOptionOrPath(call, format, paths);
    const JsonValue* root = ReadJson(call, key);
    if (root == nullptr) return call.reply.Null();
    std::string text;
    if (paths.size() < 2) {
      const JsonPath path = ParseJsonPath(call, paths.empty() ? Bytes(".") : paths.front());
      if (!AppendSelected(budgets, text, path, *root, !path.IsLegacy(), format, 0))
        throw Refusal{refusals::kNoJsonPath};
    } else {
      AppendMany(call, budgets, text, *root, paths, format);
    }
    call.reply.Bulk(text);
  }

 private:
  static constexpr size_t kMaxFormatBytes = 1024;  // of one of the texts between the parts of a document

  static Bytes TakeFormatText(Call& call) {
    if (call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    const Bytes text = TakeJsonText(call);
    if (text.size() > kMaxFormatBytes) throw Refusal{refusals::kFormatTooLong};
    return text;
  }
  static void TakeOptionOrPath(Call& call, JsonFormat& format, std::vector<Bytes>& paths) {
    if (call.args.TakeToken("INDENT")) {
      format.indent = TakeFormatText(call);
    } else if (call.args.TakeToken("NEWLINE")) {
      format.newline = TakeFormatText(call);
    } else if (call.args.TakeToken("SPACE")) {
      format.space = TakeFormatText(call);
    } else if (!call.args.TakeToken("NOESCAPE")) {
      paths.push_back(TakeJsonText(call));
    }
  }
  // JSON.GET with several paths: appends an object with a member for each path, in the order of the request. As in
  // Redis, a path that occurs twice has one member, and a malformed path has none. If all paths are legacy paths,
  // throws a Refusal if one of them selects nothing.
  static void AppendMany(Call& call, ReadBudgets& budgets, std::string& text, const JsonValue& root,
                         const std::vector<Bytes>& paths, const JsonFormat& format) {
    const bool as_arrays = !std::ranges::all_of(paths, &JsonPath::IsLegacyText);
    const auto begin_line = [&](size_t level) {
      text += format.newline;
      if (level == 1) text += format.indent;
    };
    std::set<Bytes> known;
    text += '{';
    for (const Bytes path_text : paths) {
      if (!known.insert(path_text).second) continue;
      const std::optional<JsonPath> path = ParseOrIgnore(call, path_text);
      if (!path) continue;
      if (text.back() != '{') text += ',';
      begin_line(1);
      AppendJsonString(text, path_text);
      text += ':';
      text += format.space;
      if (!AppendSelected(budgets, text, *path, root, as_arrays, format, 1)) throw Refusal{refusals::kNoJsonPath};
    }
    CheckReplySize(text, format);
    if (text.size() > 1) begin_line(0);
    text += '}';
  }
};

struct JsonMGet {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.MGET key... path",
      .summary = "Returns the values at one path of several JSON documents.",
      .since = "8.0.0",
      .complexity = "O(M*N) for a path with one match, M being the number of keys and N the size of a value",
      .group = CommandGroup::kModule,
      .flags = kReadOnly,
      .keys = {KeyRange(1, -2, 1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const std::span<const Bytes> words = call.args.Rest();
    if (ValidUtf8Bytes(words.back()) != words.back().size()) throw Refusal{refusals::kNotUtf8};
    // As in Redis, a malformed path of JSON.MGET selects nothing.
    const std::optional<JsonPath> path = ParseOrIgnore(call, words.back());
    ReadBudgets budgets;
    JsonFormat format{.max_bytes = call.MaxStringBytes()};  // `max_bytes`: what the rest of the reply may have
    call.reply.Array(words.size() - 1);
    for (const Bytes key : words.first(words.size() - 1)) {
      const Entry* entry = call.db.Read(key);
      std::string text;
      if (path && entry != nullptr && entry->Type() == ValueType::kJson &&
          AppendSelected(budgets, text, *path, static_cast<const JsonDocument*>(entry->ObjectValue())->root(),
                         !path->IsLegacy(), format, 0)) {
        format.max_bytes -= text.size();
        call.reply.Bulk(text);
      } else {
        call.reply.Null();
      }
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Deleting and clearing values

void DeleteJson(Call& call) {
  const Bytes key = call.args.Next();
  const Bytes path_text = TakeOptionalJsonPath(call);  // as in Redis, further arguments are ignored
  Edit<Json> document = OpenJson(call, key);
  if (!document) return call.reply.Integer(0);
  const JsonPath path = ParseJsonPath(call, path_text);
  JsonValue& root = document->Document().root();
  const JsonMatches matches = SelectJsonToChange(path, root);
  if (matches.empty()) return call.reply.Integer(0);
  size_t erased = 1;
  bool is_empty = true;
  if (!path.IsRoot()) {
    erased = EraseJsonMatches(root, matches);
    is_empty = root.Size() == 0;
  }
  if (is_empty) {
    document.Take();
    document.ReportChange("json.del");
  } else {
    document.ReportChange("json.del", erased);
  }
  call.reply.Integer(static_cast<int64_t>(erased));
}

struct JsonDel {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.DEL key [path]",
      .summary = "Deletes values of a JSON document.",
      .since = "8.0.0",
      .complexity = "O(N) for a path with one match, N being the size of the deleted value",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { DeleteJson(call); }
};

struct JsonForget {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.FORGET key [path]",
      .summary = "Deletes values of a JSON document, like JSON.DEL.",
      .since = "8.0.0",
      .complexity = "O(N) for a path with one match, N being the size of the deleted value",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { DeleteJson(call); }
};

// Returns true if JSON.CLEAR changes a value: an array or object with contents, or a number that is not 0.
bool IsClearable(const JsonValue& value) {
  return value.IsContainer() ? value.Size() != 0 : value.IsNumeric() && value.ToDouble() != 0;
}

JsonValue ClearedJson(const JsonValue& value) {
  if (value.IsNumeric()) return JsonValue::Integer(0);
  return value.Is(JsonKind::kArray) ? JsonValue::EmptyArray() : JsonValue::EmptyObject();
}

struct JsonClear {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.CLEAR key [path]",
      .summary = "Empties arrays and objects of a JSON document, and sets numbers to 0.",
      .since = "8.0.0",
      .complexity = "O(N) for a path with one match, N being the size of the values",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = TakeOptionalJsonPath(call);
    if (!call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    Edit<Json> document = OpenExistingJson(call, key);
    const JsonPath path = ParseJsonPath(call, path_text);
    const JsonTargets targets = SelectJsonTargets(path, document->Document().root());
    // As in Redis, a value that JSON.CLEAR selects twice counts twice.
    const auto cleared =
        std::ranges::count_if(targets.values, [](const JsonValue* each) { return IsClearable(*each); });
    targets.ForEach([](JsonValue& value, size_t) {
      if (IsClearable(value)) value = ClearedJson(value);
    });
    if (cleared > 0) document.ReportChange("json.clear", static_cast<uint64_t>(cleared));
    call.reply.Integer(cleared);
  }
};

constexpr auto kJsonCommands =
    Family<JsonClear, JsonDel, JsonForget, JsonGet, JsonMerge, JsonMGet, JsonMSet, JsonSet>();

}  // namespace

std::span<const CommandCard> JsonCommands() { return kJsonCommands; }

}  // namespace respite
