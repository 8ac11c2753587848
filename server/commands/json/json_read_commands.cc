// Commands that report what JSON documents contain: types, lengths, names of members, indexes, sizes in memory, and
// values as RESP.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/number_text.h"
#include "datatypes/json/json_expression.h"
#include "server/commands/families.h"
#include "server/commands/json/json_words.h"

namespace respite {

namespace {

// Writes a reply about the values that a path selects. For a path that begins with $, writes an array with one reply
// for each value; for a legacy path, only the reply about the first value. `reply` writes the reply about one value,
// `missing` the reply if a legacy path selects nothing.
template <class ReplyOne, class Missing>
void ReplyAboutMatches(Call& call, const JsonPath& path, const JsonValue& root, ReplyOne&& reply, Missing&& missing) {
  const JsonMatches matches = SelectJsonValues(path, root);
  if (path.IsLegacy()) {
    if (matches.empty()) return missing();
    return reply(matches.front().Value());
  }
  call.reply.Array(matches.size());
  const size_t start = call.reply.Size();
  for (const JsonMatch& match : matches) {
    reply(match.Value());
    // Limits the reply, because a path may select one large value many times.
    if (call.reply.Size() - start > call.MaxStringBytes()) throw Refusal{refusals::kJsonReplyTooLong};
  }
}

// Parses a path, or returns nullopt for a legacy path that is malformed: as in Redis, some commands reply to such a
// path as if it selected nothing.
std::optional<JsonPath> ParseLenientPath(const Call& call, Bytes text) {
  try {
    return ParseJsonPath(call, text);
  } catch (const Refusal&) {
    if (!JsonPath::IsLegacyText(text)) throw;
    return std::nullopt;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Types and lengths

struct JsonType {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.TYPE key [path]",
      .summary = "Returns the types of values in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = TakeOptionalJsonPath(call);
    const JsonValue* root = ReadJson(call, key);
    const auto path = root == nullptr ? std::nullopt : ParseLenientPath(call, path_text);
    // Under RESP3, the reply of JSON.TYPE is inside an array of one element.
    if (call.reply.IsResp3()) call.reply.Array(1);
    if (!path) return call.reply.Null();
    ReplyAboutMatches(
        call, *path, *root, [&](const JsonValue& value) { call.reply.Bulk(JsonTypeName(value)); },
        [&] { call.reply.Null(); });
  }
};

struct JsonLengthErrors {  // the errors of a command that replies with lengths
  const char* no_key;      // there is no key, and the path begins with $
  const char* wrong_kind;  // the value that a legacy path selects has another type
};

// Implements JSON.ARRLEN, JSON.OBJLEN and JSON.STRLEN. Replies with the number of elements, members or bytes of each
// match of this kind. For any other match, replies with null, or with an error if the path is a legacy path. As in
// Redis, ignores further arguments.
void ReplyLengths(Call& call, JsonKind kind, const JsonLengthErrors& errors) {
  const Bytes key = call.args.Next();
  const Bytes path_text = TakeOptionalJsonPath(call);
  const JsonValue* root = ReadJson(call, key);
  if (root == nullptr) {
    if (!JsonPath::IsLegacyText(path_text)) throw Refusal{errors.no_key};
    return call.reply.Null();
  }
  const auto path = kind == JsonKind::kObject ? ParseLenientPath(call, path_text) : ParseJsonPath(call, path_text);
  if (!path) return call.reply.Null();
  ReplyAboutMatches(
      call, *path, *root,
      [&](const JsonValue& value) {
        if (value.Is(kind)) {
          const size_t size = kind == JsonKind::kString ? value.AsString().size() : value.Size();
          return call.reply.Integer(static_cast<int64_t>(size));
        }
        if (path->IsLegacy()) throw Refusal{errors.wrong_kind};
        call.reply.Null();
      },
      [&] {
        if (kind != JsonKind::kObject) throw Refusal{refusals::kNoJsonPath};
        call.reply.Null();
      });
}

struct JsonStrLen {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.STRLEN key [path]",
      .summary = "Returns the lengths of texts in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    ReplyLengths(call, JsonKind::kString, {refusals::kNoJsonKey, refusals::kWrongJsonString});
  }
};

struct JsonArrLen {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.ARRLEN key [path]",
      .summary = "Returns the lengths of arrays in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyLengths(call, JsonKind::kArray, {refusals::kNoJsonKey, refusals::kNoJsonArray}); }
};

struct JsonObjLen {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.OBJLEN key [path]",
      .summary = "Returns the numbers of members of objects in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    ReplyLengths(call, JsonKind::kObject, {refusals::kNoJsonObject, refusals::kWrongJsonObject});
  }
};

struct JsonObjKeys {
  static constexpr CommandSpec spec = {.syntax = "JSON.OBJKEYS key [path]",
                                       .summary = "Returns the names of the members of objects in a JSON document.",
                                       .since = "8.0.0",
                                       .complexity = "O(N) for a path with one match, N being the number of members",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = TakeOptionalJsonPath(call);
    const JsonValue* root = ReadJson(call, key);
    if (root == nullptr) {
      if (!JsonPath::IsLegacyText(path_text)) throw Refusal{refusals::kNoJsonKey};
      return call.reply.Null();
    }
    const auto path = ParseLenientPath(call, path_text);
    if (!path) return call.reply.Null();
    JsonBudget budget;
    ReplyAboutMatches(
        call, *path, *root,
        [&](const JsonValue& value) {
          if (!value.Is(JsonKind::kObject)) {
            if (path->IsLegacy()) throw Refusal{refusals::kNoJsonObject};
            return call.reply.Null();
          }
          if (!path->IsStatic()) SpendForReply(budget, value);
          call.reply.Array(value.Size());
          for (const JsonMember& member : value.Members()) call.reply.Bulk(member.name.AsString());
        },
        [&] { call.reply.Null(); });
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Searching

struct JsonArrIndex {
  static constexpr CommandSpec spec = {.syntax = "JSON.ARRINDEX key path value [range{start:integer [stop:integer]}]",
                                       .summary = "Returns where a value first occurs in arrays of a JSON document.",
                                       .since = "8.0.0",
                                       .complexity = "O(N) for a path with one match, N being the size of the array",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = TakeJsonText(call);
    const Bytes wanted_text = TakeJsonText(call);
    const int64_t start = call.args.AtEnd() ? 0 : TakeJsonInteger(call);
    const int64_t stop = call.args.AtEnd() ? 0 : TakeJsonInteger(call);
    if (!call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    const JsonValue wanted = ParseJsonArgument(wanted_text, JsonErrorPrefix::kErr);
    const JsonValue* root = ReadJson(call, key);
    if (root == nullptr) throw Refusal{refusals::kNoJsonPath};
    const JsonPath path = ParseJsonPath(call, path_text);
    JsonBudget budget;
    ReplyAboutMatches(
        call, path, *root,
        [&](const JsonValue& value) {
          // Each search of JSON.ARRINDEX in an array counts as a step of the budget, because a path may select one
          // array many times.
          SpendJsonSteps(budget, 1);
          if (value.Is(JsonKind::kArray)) return call.reply.Integer(IndexOf(value, wanted, start, stop, budget));
          if (path.IsLegacy()) throw Refusal{refusals::kWrongJsonArray};
          call.reply.Null();
        },
        [&] { throw Refusal{refusals::kNoJsonPath}; });
  }

 private:
  // JSON.ARRINDEX: returns the index of the first element from `start` on that equals `wanted`, or -1. A negative index
  // counts from the end. `stop` is exclusive; 0 means the end of the array.
  static int64_t IndexOf(const JsonValue& array, const JsonValue& wanted, int64_t start, int64_t stop,
                         JsonBudget& budget) {
    const auto size = static_cast<int64_t>(array.Size());
    const auto bound = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
    const int64_t end = stop == 0 ? size : bound(stop);
    // As in Redis, a start of JSON.ARRINDEX after the end of the array means the last element.
    for (int64_t i = std::max<int64_t>(std::min(bound(start), size - 1), 0); i < end; ++i) {
      SpendJsonSteps(budget, 1);
      if (IsSame(*array.Elements()[static_cast<size_t>(i)], wanted, budget)) return i;
    }
    // Throws if the budget was used up, because then the last comparison is incomplete.
    SpendJsonSteps(budget, 0);
    return -1;
  }
  // Returns whether two values are equal. An integer never equals a double (1 is not 1.0), also inside arrays and
  // objects.
  static bool IsSame(const JsonValue& one, const JsonValue& other, JsonBudget& budget) {
    if (one.IsNumeric() && one.Kind() != other.Kind()) return false;
    if (!JsonEquals(one, other, budget)) return false;
    if (one.Is(JsonKind::kArray)) {
      return std::ranges::equal(one.Elements(), other.Elements(),
                                [&](const JsonValue& a, const JsonValue& b) { return IsSame(a, b, budget); });
    }
    if (!one.Is(JsonKind::kObject)) return true;
    return std::ranges::all_of(one.Members(), [&](const JsonMember& member) {
      return IsSame(member.value, *other.Find(member.name.AsString()), budget);
    });
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// RESP and memory

struct JsonResp {
  static constexpr CommandSpec spec = {.syntax = "JSON.RESP key [path]",
                                       .summary = "Returns a value of a JSON document as a reply of RESP.",
                                       .since = "8.0.0",
                                       .complexity = "O(N) for a path with one match, N being the size of the value",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .deprecated_since = "8.0.0"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = TakeOptionalJsonPath(call);
    const JsonValue* root = ReadJson(call, key);
    if (root == nullptr) return call.reply.Null();
    const JsonPath path = ParseJsonPath(call, path_text);
    JsonBudget budget;
    ReplyAboutMatches(
        call, path, *root,
        [&](const JsonValue& value) {
          if (!path.IsStatic()) SpendForReply(budget, value);
          Write(call.reply, value);
        },
        [&] { throw Refusal{refusals::kNoJsonPath}; });
  }

 private:
  static void Write(Reply& reply, const JsonValue& value) {
    switch (value.Kind()) {
      case JsonKind::kNull:
        return reply.Null();
      case JsonKind::kBoolean:
        return reply.Simple(value.AsBoolean() ? "true" : "false");
      case JsonKind::kInteger:
        return reply.Integer(value.AsInteger());
      case JsonKind::kUnsigned:
        return WriteNumber(reply, value.ToDouble());
      case JsonKind::kNumber:
        return WriteNumber(reply, value.AsNumber());
      case JsonKind::kString:
        return reply.Bulk(value.AsString());
      case JsonKind::kArray:
        reply.Array(value.Size() + 1);
        reply.Simple("[");
        for (const JsonValue& element : value.Elements()) Write(reply, element);
        return;
      case JsonKind::kObject:
        reply.Array(2 * value.Size() + 1);
        reply.Simple("{");
        for (const JsonMember& member : value.Members()) {
          reply.Bulk(member.name.AsString());
          Write(reply, member.value);
        }
    }
  }
  static void WriteNumber(Reply& reply, double number) {
    if (reply.IsResp3()) return reply.Double(number);
    reply.Bulk(DoubleText(number));
  }
};

struct JsonDebugMemory {
  static constexpr CommandSpec spec = {.syntax = "JSON.DEBUG|MEMORY key [path]",
                                       .summary = "Returns how many bytes of memory values of a JSON document take.",
                                       .since = "8.0.0",
                                       .complexity = "O(N) for a path with one match, N being the size of the value",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = TakeOptionalJsonPath(call);
    const JsonValue* root = ReadJson(call, key);
    if (root == nullptr) return JsonPath::IsLegacyText(path_text) ? call.reply.Integer(0) : call.reply.Array(0);
    const JsonPath path = ParseJsonPath(call, path_text);
    JsonBudget budget;
    ReplyAboutMatches(
        call, path, *root,
        [&](const JsonValue& value) {
          if (!path.IsStatic()) SpendForReply(budget, value);
          call.reply.Integer(static_cast<int64_t>(sizeof(JsonValue) + value.UsedBytes(0)));
        },
        [&] { throw Refusal{refusals::kNoJsonPath}; });
  }
};

struct JsonDebugHelp {
  static constexpr CommandSpec spec = {.syntax = "JSON.DEBUG|HELP",
                                       .summary = "Lists the subcommands.",
                                       .since = "8.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly};
  static void Run(Call& call) {
    call.reply.Array(2);
    call.reply.Bulk("MEMORY <key> [path] - reports memory usage");
    call.reply.Bulk("HELP                - this message");
  }
};

struct JsonDebug {
  static constexpr CommandSpec spec = {.syntax = "JSON.DEBUG",
                                       .summary = "Contains the subcommands that examine JSON documents.",
                                       .since = "8.0.0",
                                       .group = CommandGroup::kModule,
                                       .arity = -2};
};

constexpr auto kJsonReadCommands = Family<JsonArrIndex, JsonArrLen, JsonDebug, JsonDebugHelp, JsonDebugMemory,
                                          JsonObjKeys, JsonObjLen, JsonResp, JsonStrLen, JsonType>();

}  // namespace

std::span<const CommandCard> JsonReadCommands() { return kJsonReadCommands; }

}  // namespace respite
