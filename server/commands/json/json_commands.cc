// Commands that set, read, merge, delete and clear values of JSON documents.
#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "datatypes/json/json_text.h"
#include "server/commands/families.h"
#include "server/commands/json/json_float_arrays.h"
#include "server/commands/json/json_words.h"
#include "server/dataset/lazy_free.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNotAtRoot[] = "ERR new objects must be created at the root";
constexpr char kNoStaticPath[] = "ERR Err wrong static path";
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
  JsonPath path;
  JsonValue value;
  size_t value_bytes;  // of the text of `value`
  JsonCondition condition = JsonCondition::kNone;
};

// Returns the object to which a path that matches nothing would add a member; null: there is no such object. Throws a
// Refusal if the path is not static, or if it is an index beyond the end of an array.
JsonValue* ParentOfNewMember(const JsonPath& path, const JsonValue& root) {
  if (!path.IsStatic()) throw Refusal{refusals::kNoStaticPath};
  JsonBudget budget;
  const JsonMatches parents = path.SelectParents(root, budget);
  if (parents.empty()) return nullptr;
  const JsonValue& parent = *parents.front().value;
  const bool names_member = path.Steps().back().kind == JsonStep::Kind::kNames;
  if (!names_member && parent.Is(JsonKind::kArray)) throw Refusal{refusals::kJsonIndexOutOfBounds};
  return names_member && parent.Is(JsonKind::kObject) ? const_cast<JsonValue*>(&parent) : nullptr;
}

// Sets the values that a path selects. If the path selects none, adds the member that the path names. Returns false and
// changes nothing if NX or XX forbids the change, or if there is no object for the new member.
template <class Apply>
bool AssignInside(Call& call, JsonValue& root, JsonAssignment& assignment, Apply&& apply) {
  const JsonPath& path = assignment.path;
  const std::vector<JsonValue*> targets = SelectJsonTargets(path, root);
  if (!targets.empty()) {
    if (assignment.condition == JsonCondition::kIfAbsent) return false;
    CheckJsonDepth(path, root, 0, assignment.value.Depth());
    CheckJsonCopies(call, assignment.value_bytes, targets.size());
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

void Overwrite(JsonValue& target, JsonValue value) { target = std::move(value); }

// Removes the members that are null from an object, and from the objects that are its members. As RFC 7396 says, this
// is the result of merging the object into an empty object.
void EraseNulls(JsonValue& object) {
  object.EraseIf([&](size_t i) { return object.Members()[i].value.Is(JsonKind::kNull); });
  for (JsonMember& member : object.Members()) {
    if (member.value.Is(JsonKind::kObject)) EraseNulls(member.value);
  }
}

// Changes an object as RFC 7396 says: members of `patch` that are null are removed, others are merged.
// Cost: O(n + k*log n) for each object with n members, into which k members are merged.
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
  const auto is_null = [](const JsonMember& member) { return member.value.Is(JsonKind::kNull); };
  if (std::ranges::any_of(patch.Members(), is_null)) {
    target.EraseIf([&](size_t i) {
      const JsonValue* wanted = patch.Find(target.Members()[i].name.AsString());
      return wanted != nullptr && wanted->Is(JsonKind::kNull);
    });
  }
  std::vector<JsonMember> added;
  for (JsonMember& member : patch.Members()) {
    if (is_null(member)) continue;
    if (JsonValue* old_value = target.Find(member.name.AsString())) {
      MergeJson(*old_value, std::move(member.value));
    } else {
      if (member.value.Is(JsonKind::kObject)) EraseNulls(member.value);
      added.push_back(std::move(member));
    }
  }
  target.AppendMembers(added);
}

JsonAssignment TakeAssignment(Call& call) {
  auto [key, path, text] = call.args.Take<Bytes, Bytes, Bytes>();
  return {key, ParseJsonPath(path), ParseJsonArgument(text), text.size()};
}

// Creates a key with a new document. Returns false if XX was given. Throws a Refusal if the path is not the root.
bool CreateDocument(Call& call, JsonAssignment& assignment, const KeyEvent& event) {
  if (assignment.condition == JsonCondition::kIfPresent) return false;
  if (!assignment.path.IsRoot()) throw Refusal{refusals::kNotAtRoot};
  Edit<Json> document = call.db.OpenOrCreate<Json>(assignment.key);
  document->Document().root() = std::move(assignment.value);
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
    Assign(call, assignment) ? call.reply.Ok() : call.reply.Null();
  }

 private:
  static void TakeOption(Call& call, JsonAssignment& assignment) {
    const bool is_new = assignment.condition == JsonCondition::kNone;
    if (is_new && call.args.TakeToken("NX")) {
      assignment.condition = JsonCondition::kIfAbsent;
    } else if (is_new && call.args.TakeToken("XX")) {
      assignment.condition = JsonCondition::kIfPresent;
    } else if (call.args.TakeToken("FPHA")) {
      RoundFloatArrays(assignment.value, call.args.Next());
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  static bool Assign(Call& call, JsonAssignment& assignment) {
    Edit<Json> document = OpenJson(call, assignment.key);
    if (!document) return CreateDocument(call, assignment, "json.set");
    if (!AssignInside(call, document->Document().root(), assignment, Overwrite)) return false;
    document.ReportChange("json.set");
    return true;
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
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    JsonAssignment assignment = TakeAssignment(call);
    call.args.ExpectEnd();
    Edit<Json> document = OpenJson(call, assignment.key);
    if (!document) {
      CreateDocument(call, assignment, "json.merge");
      return call.reply.Ok();
    }
    JsonValue& root = document->Document().root();
    if (assignment.path.IsRoot() && assignment.value.Is(JsonKind::kNull)) {
      document.Take();
      document.ReportChange("json.del");
      return call.reply.Ok();
    }
    if (!AssignInside(call, root, assignment, MergeJson)) return call.reply.Null();
    document.ReportChange("json.merge");
    call.reply.Ok();
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
    if (call.args.Left() % 3 != 0) throw refusals::WrongArity(call.command.full_name);
    std::vector<JsonAssignment> assignments;
    while (!call.args.AtEnd()) assignments.push_back(TakeAssignment(call));
    JsonBudget budget;
    std::unordered_set<Bytes> created;
    for (JsonAssignment& assignment : assignments) Check(call, assignment, budget, created);
    for (JsonAssignment& assignment : assignments) {
      Edit<Json> document = call.db.OpenOrCreate<Json>(assignment.key);
      // If an earlier assignment to the same key has changed the document so that this path has no place any more, this
      // assignment changes nothing.
      AssignIfPossible(call, document->Document().root(), assignment);
      document.ReportChange("json.mset");
    }
    call.reply.Ok();
  }

 private:
  // Throws a Refusal if this assignment cannot be executed. `budget`: limit of work for all assignments of the request.
  // `created`: keys whose root an earlier assignment of the request sets; adds this key if this assignment does so.
  static void Check(Call& call, JsonAssignment& assignment, JsonBudget& budget, std::unordered_set<Bytes>& created) {
    const JsonValue* root = ReadJson(call, assignment.key);
    if (assignment.path.IsRoot()) {
      created.insert(assignment.key);
      return;
    }
    if (root == nullptr && created.contains(assignment.key)) return;
    if (root == nullptr) throw Refusal{refusals::kNotAtRoot};
    const std::vector<JsonValue*> targets = SelectJsonTargets(assignment.path, const_cast<JsonValue&>(*root), budget);
    CheckJsonDepth(assignment.path, *root, 0, assignment.value.Depth());
    CheckJsonCopies(call, assignment.value_bytes, targets.size());
    if (targets.empty()) ParentOfNewMember(assignment.path, *root);
  }
  static void AssignIfPossible(Call& call, JsonValue& root, JsonAssignment& assignment) {
    try {
      AssignInside(call, root, assignment, Overwrite);
    } catch (const Refusal&) {
      // Changes nothing.
    }
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
// Returns false if `as_array` is false and the path selects nothing. Throws a Refusal if a budget does not suffice, or
// if the text becomes longer than format.max_bytes.
bool AppendSelected(ReadBudgets& budgets, std::string& text, const JsonPath& path, const JsonValue& root, bool as_array,
                    const JsonFormat& format, size_t level) {
  std::vector<JsonValue> computed;
  std::vector<const JsonValue*> values;
  if (path.Computes()) {
    computed = path.Compute(root, budgets.selection);
    // Throws if the budget was used up, because then the computed values are incomplete.
    CheckJsonBudget(budgets.selection, 0);
    for (const JsonValue& value : computed) values.push_back(&value);
  } else {
    for (const JsonMatch& match : SelectJsonValues(path, root, budgets.selection)) {
      values.push_back(match.value);
    }
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
    std::vector<JsonPath> paths;
    while (!call.args.AtEnd()) TakeOptionOrPath(call, format, paths);
    const JsonValue* root = ReadJson(call, key);
    if (root == nullptr) return call.reply.Null();
    if (paths.empty()) paths.push_back(LegacyJsonRoot());
    std::string text;
    if (paths.size() == 1) {
      const JsonPath& path = paths.front();
      if (!AppendSelected(budgets, text, path, *root, !path.IsLegacy(), format, 0))
        throw refusals::JsonPathMissing(path.Text());
    } else {
      AppendMany(budgets, text, *root, paths, format);
    }
    call.reply.Bulk(text);
  }

 private:
  static constexpr size_t kMaxFormatBytes = 1024;  // of one of the texts between the parts of a document

  static Bytes TakeFormatText(Call& call) {
    const Bytes text = call.args.Next();
    if (text.size() > kMaxFormatBytes) throw Refusal{refusals::kFormatTooLong};
    return text;
  }
  static void TakeOptionOrPath(Call& call, JsonFormat& format, std::vector<JsonPath>& paths) {
    if (call.args.TakeToken("INDENT")) {
      format.indent = TakeFormatText(call);
    } else if (call.args.TakeToken("NEWLINE")) {
      format.newline = TakeFormatText(call);
    } else if (call.args.TakeToken("SPACE")) {
      format.space = TakeFormatText(call);
    } else if (!call.args.TakeToken("NOESCAPE")) {
      paths.push_back(TakeJsonPath(call));
    }
  }
  static void AppendMany(ReadBudgets& budgets, std::string& text, const JsonValue& root,
                         const std::vector<JsonPath>& paths, const JsonFormat& format) {
    const bool as_arrays = !std::ranges::all_of(paths, &JsonPath::IsLegacy);
    const auto begin_line = [&](size_t level) {
      text += format.newline;
      if (level == 1) text += format.indent;
    };
    text += '{';
    for (size_t i = 0; i < paths.size(); ++i) {
      if (i != 0) text += ',';
      begin_line(1);
      AppendJsonString(text, paths[i].Text());
      text += ':';
      text += format.space;
      if (!AppendSelected(budgets, text, paths[i], root, as_arrays, format, 1))
        throw refusals::JsonPathMissing(paths[i].Text());
    }
    CheckReplySize(text, format);
    begin_line(0);
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
    const JsonPath path = ParseJsonPath(words.back());
    ReadBudgets budgets;
    JsonFormat format{.max_bytes = call.MaxStringBytes()};  // `max_bytes`: what the rest of the reply may have
    call.reply.Array(words.size() - 1);
    for (const Bytes key : words.first(words.size() - 1)) {
      const Entry* entry = call.db.Read(key);
      std::string text;
      if (entry != nullptr && entry->Type() == ValueType::kJson &&
          AppendSelected(budgets, text, path, static_cast<const JsonDocument*>(entry->ObjectValue())->root(),
                         !path.IsLegacy(), format, 0)) {
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

size_t PlaceIn(const JsonValue& parent, const JsonValue& value) {
  if (parent.Is(JsonKind::kArray)) return static_cast<size_t>(&value - parent.Elements().data());
  const auto* member = reinterpret_cast<const char*>(&value) - offsetof(JsonMember, value);
  return static_cast<size_t>(reinterpret_cast<const JsonMember*>(member) - parent.Members().data());
}

// Deletes all matches. Returns their number; a match inside another match does not count.
size_t EraseMatches(JsonValue& root, const JsonMatches& matches) {
  if (matches.size() == 1) {
    const size_t place = PlaceIn(*matches.front().parent, *matches.front().value);
    return const_cast<JsonValue*>(matches.front().parent)->EraseIf([place](size_t i) { return i == place; });
  }
  std::vector<std::pair<const JsonValue*, size_t>> places;
  places.reserve(matches.size());
  for (const JsonMatch& match : matches) places.emplace_back(match.parent, PlaceIn(*match.parent, *match.value));
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  // Visits the document from the root, so that matches inside a deleted value are not counted. Deletes from a container
  // only after the containers inside it were visited, because deleting moves them.
  size_t erased = 0;
  const auto visit = [&](const auto& self, JsonValue& value) -> void {
    if (!value.IsContainer() || places.empty()) return;
    const auto first = std::ranges::lower_bound(places, std::pair<const JsonValue*, size_t>(&value, 0));
    auto next = first;
    for (size_t i = 0; i < value.Size(); ++i) {
      if (next != places.end() && next->first == &value && next->second == i) {
        ++next;
      } else {
        self(self, value.Is(JsonKind::kArray) ? value.Elements()[i] : value.Members()[i].value);
      }
    }
    if (next == first) return;
    auto at = first;
    erased += value.EraseIf([&](size_t i) {
      const bool is_doomed = at != next && at->second == i;
      if (is_doomed) ++at;
      return is_doomed;
    });
  };
  visit(visit, root);
  return erased;
}

void DeleteJson(Call& call) {
  const Bytes key = call.args.Next();
  const JsonPath path = TakeOptionalJsonPath(call);
  call.args.ExpectEnd();
  Edit<Json> document = OpenJson(call, key);
  if (!document) return call.reply.Integer(0);
  JsonValue& root = document->Document().root();
  const JsonMatches matches = SelectJsonValues(path, root);
  if (matches.empty()) return call.reply.Integer(0);
  size_t erased = 1;
  bool is_empty = true;
  if (!path.IsRoot()) {
    erased = EraseMatches(root, matches);
    is_empty = root.Size() == 0;
  }
  if (is_empty) {
    document.Take();
    document.ReportChange("json.del");
    document.ReportChangeUncounted("del");
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

// Makes an array or object empty, or sets a number to 0. Returns false if the value stays as it was.
bool ClearJson(JsonValue& value) {
  if (value.IsContainer()) {
    if (value.Size() == 0) return false;
    value = value.Is(JsonKind::kArray) ? JsonValue::EmptyArray() : JsonValue::EmptyObject();
    return true;
  }
  if (!value.IsNumeric() || value.ToDouble() == 0) return false;
  value = JsonValue::Integer(0);
  return true;
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
    const JsonPath path = TakeOptionalJsonPath(call);
    call.args.ExpectEnd();
    Edit<Json> document = OpenExistingJson(call, key);
    const std::vector<JsonValue*> targets = SelectJsonTargets(path, document->Document().root());
    int64_t cleared = 0;
    for (size_t i = targets.size(); i-- > 0;) cleared += ClearJson(*targets[i]) ? 1 : 0;
    if (cleared > 0) document.ReportChange("json.clear", static_cast<uint64_t>(cleared));
    call.reply.Integer(cleared);
  }
};

constexpr auto kJsonCommands =
    Family<JsonClear, JsonDel, JsonForget, JsonGet, JsonMerge, JsonMGet, JsonMSet, JsonSet>();

}  // namespace

std::span<const CommandCard> JsonCommands() { return kJsonCommands; }

}  // namespace respite
