#include "server/catalogue/command_docs.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/bytes.h"
#include "server/catalogue/command_syntax.h"
#include "server/catalogue/dialect.h"

namespace respite {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};

// The names of the flags that COMMAND INFO of Redis 6.2 shows, in this order.
constexpr FlagName kFlagNamesOfRedis62[] = {
    {kWrite, "write"},
    {kReadOnly, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kRandom, "random"},
    {kSortForScript, "sort_for_script"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kAsking, "asking"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kMayReplicate, "may_replicate"},
};

// The names of the flags that COMMAND INFO shows, in this order. As in Redis, may_replicate, protected and
// touches_arbitrary_keys are not shown. CommandFlagNames appends movablekeys and allow_busy.
constexpr FlagName kCommandFlagNames[] = {
    {kWrite, "write"},
    {kReadOnly, "readonly"},
    {kDenyOom, "denyoom"},
    {kOfModule, "module"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kAsking, "asking"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kNoMandatoryKeys, "no_mandatory_keys"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMulti, "no_multi"},
};

constexpr FlagName kKeyFlagNames[] = {
    {kKeyRO, "RO"},
    {kKeyRW, "RW"},
    {kKeyOW, "OW"},
    {kKeyRM, "RM"},
    {kKeyAccess, "access"},
    {kKeyUpdate, "update"},
    {kKeyInsert, "insert"},
    {kKeyDelete, "delete"},
    {kKeyNotKey, "not_key"},
    {kKeyIncomplete, "incomplete"},
    {kKeyVariableFlags, "variable_flags"},
};

std::vector<std::string_view> NamesOf(uint32_t flags, std::span<const FlagName> names) {
  std::vector<std::string_view> set;
  for (const FlagName& entry : names)
    if (flags & entry.flag) set.push_back(entry.name);
  return set;
}

void WriteSetOfSimple(Reply& reply, const std::vector<std::string_view>& names) {
  reply.Set(names.size());
  for (std::string_view name : names) reply.Simple(name);
}

void WritePair(Reply& reply, std::string_view field, std::string_view value) {
  reply.Bulk(field);
  reply.Bulk(value);
}
void WritePair(Reply& reply, std::string_view field, int64_t value) {
  reply.Bulk(field);
  reply.Integer(value);
}

// ----- COMMAND INFO

void WriteCategories(Reply& reply, uint32_t categories) {
  const std::span<const std::string_view> names = AclCategoryNames();
  reply.Set(static_cast<size_t>(std::popcount(categories)));
  for (size_t bit = 0; bit < names.size(); ++bit)
    if (categories & (1u << bit)) reply.Simple("@" + std::string(names[bit]));
}

void WriteTips(Reply& reply, std::string_view tips) {
  if (tips.empty()) return reply.Set(0);
  const std::vector<Bytes> each = SplitOn(tips, ' ');
  reply.Set(each.size());
  for (Bytes tip : each) reply.Bulk(tip);
}

void WriteBeginSearch(Reply& reply, const KeySpec& spec) {
  reply.Bulk("begin_search");
  reply.Map(2);
  switch (spec.begin) {
    case KeySpec::Begin::kUnknown:
      WritePair(reply, "type", "unknown");
      reply.Bulk("spec");
      return reply.Map(0);
    case KeySpec::Begin::kIndex:
      WritePair(reply, "type", "index");
      reply.Bulk("spec");
      reply.Map(1);
      return WritePair(reply, "index", spec.index);
    case KeySpec::Begin::kKeyword:
      WritePair(reply, "type", "keyword");
      reply.Bulk("spec");
      reply.Map(2);
      WritePair(reply, "keyword", spec.keyword);
      return WritePair(reply, "startfrom", spec.index);
  }
}

void WriteFindKeys(Reply& reply, const KeySpec& spec) {
  reply.Bulk("find_keys");
  reply.Map(2);
  switch (spec.find) {
    case KeySpec::Find::kUnknown:
      WritePair(reply, "type", "unknown");
      reply.Bulk("spec");
      return reply.Map(0);
    case KeySpec::Find::kRange:
      WritePair(reply, "type", "range");
      reply.Bulk("spec");
      reply.Map(3);
      WritePair(reply, "lastkey", spec.last);
      WritePair(reply, "keystep", spec.step);
      return WritePair(reply, "limit", spec.limit);
    case KeySpec::Find::kKeyNum:
      WritePair(reply, "type", "keynum");
      reply.Bulk("spec");
      reply.Map(3);
      WritePair(reply, "keynumidx", spec.key_num_index);
      WritePair(reply, "firstkey", spec.first_key);
      return WritePair(reply, "keystep", spec.step);
  }
}

void WriteKeySpec(Reply& reply, const KeySpec& spec) {
  reply.Map(spec.notes.empty() ? 3 : 4);
  if (!spec.notes.empty()) WritePair(reply, "notes", spec.notes);
  reply.Bulk("flags");
  WriteKeyFlags(reply, spec.flags);
  WriteBeginSearch(reply, spec);
  WriteFindKeys(reply, spec);
}

// ----- COMMAND DOCS

void WriteArguments(Reply& reply, std::span<const SyntaxArgument> arguments, const Command& command);

// Returns how the emulated version shows the token of the argument, if not as the syntax line says; else null.
const TokenChange* TokenChangeOf(const SyntaxArgument& argument, const Command& command) {
  return argument.HasToken() ? command.dialect->FindTokenChange(command.full_name, argument.token) : nullptr;
}

bool IsShown(const SyntaxArgument& argument, const Command& command) {
  const TokenChange* change = TokenChangeOf(argument, command);
  return command.dialect->Has(argument.since) && (change == nullptr || !change->since.empty());
}

std::string_view ShownSince(const SyntaxArgument& argument, const Command& command) {
  if (const TokenChange* change = TokenChangeOf(argument, command)) return change->since;
  // A server that emulates no version shows `since` of all arguments that Redis 7.2 does not have.
  const bool is_hidden =
      argument.hides_since && (command.dialect->EmulatesVersion() || argument.since.IsIn(kDefaultVersion));
  return is_hidden ? std::string_view() : command.dialect->ShownVersion(argument.since);
}

// Calls visit(argument, children) for each argument in `arguments` that the emulated version shows. Does not visit
// nested arguments: they are in `children`.
template <class Visitor>
void ForEachShown(std::span<const SyntaxArgument> arguments, const Command& command, Visitor&& visit) {
  ForEachArgument(arguments, [&](const SyntaxArgument& argument, std::span<const SyntaxArgument> children) {
    if (IsShown(argument, command)) visit(argument, children);
  });
}

size_t CountOf(std::span<const SyntaxArgument> arguments, const Command& command) {
  size_t count = 0;
  ForEachShown(arguments, command, [&](const SyntaxArgument&, std::span<const SyntaxArgument>) { ++count; });
  return count;
}

bool IsDeprecated(const VersionMark& mark, const Dialect& dialect) { return !mark.IsEmpty() && dialect.Has(mark); }

void WriteArgumentFlags(Reply& reply, const SyntaxArgument& argument) {
  std::vector<std::string_view> flags;
  if (argument.optional) flags.push_back("optional");
  if (argument.multiple) flags.push_back("multiple");
  if (argument.multiple_token) flags.push_back("multiple_token");
  reply.Bulk("flags");
  WriteSetOfSimple(reply, flags);
}

// Returns the type that COMMAND DOCS shows. Versions that do not list the alternatives of an argument call it a string.
ArgumentType ShownType(const SyntaxArgument& argument, std::span<const SyntaxArgument> children,
                       const Command& command) {
  const bool is_string = argument.type == ArgumentType::kOneOf && CountOf(children, command) == 0;
  return is_string ? ArgumentType::kString : argument.type;
}

void WriteArgument(Reply& reply, const SyntaxArgument& argument, std::span<const SyntaxArgument> children,
                   const Command& command) {
  const Dialect& dialect = *command.dialect;
  const ArgumentType type = ShownType(argument, children, command);
  const bool nests = type == ArgumentType::kOneOf || type == ArgumentType::kBlock;
  const bool has_flags = argument.optional || argument.multiple;
  const std::string_view since = ShownSince(argument, command);
  const bool is_deprecated = IsDeprecated(argument.deprecated_since, dialect);
  const std::string name = argument.named_by_token ? ToLower(argument.name) : std::string(argument.name);
  // Each argument is a map with the fields `name`, `type`, and either `display_text` or `arguments`. The other fields
  // are optional.
  reply.Map(3u + (argument.key_spec >= 0) + argument.HasToken() + !since.empty() + is_deprecated + has_flags);
  WritePair(reply, "name", name);
  WritePair(reply, "type", ArgumentTypeName(type));
  if (!nests) WritePair(reply, "display_text", argument.display.empty() ? name : argument.display);
  if (argument.key_spec >= 0) WritePair(reply, "key_spec_index", argument.key_spec);
  if (argument.HasToken()) WritePair(reply, "token", argument.token);
  if (!since.empty()) WritePair(reply, "since", since);
  if (is_deprecated) WritePair(reply, "deprecated_since", dialect.ShownVersion(argument.deprecated_since));
  if (has_flags) WriteArgumentFlags(reply, argument);
  if (nests) WriteArguments(reply, children, command);
}

// Returns whether the emulated version has only one of the alternatives. COMMAND DOCS then shows it without the others.
bool IsOnlyAlternative(const SyntaxArgument& argument, std::span<const SyntaxArgument> children,
                       const Command& command) {
  const bool is_plain = argument.type == ArgumentType::kOneOf && !argument.optional && !argument.multiple;
  return is_plain && !argument.HasToken() && argument.since.IsEmpty() && CountOf(children, command) == 1;
}

// Writes the field `arguments`, with the arguments that the emulated version shows. Writes nothing if there are none.
void WriteArguments(Reply& reply, std::span<const SyntaxArgument> arguments, const Command& command) {
  const size_t count = CountOf(arguments, command);
  if (count == 0) return;
  reply.Bulk("arguments");
  reply.Array(count);
  ForEachShown(arguments, command, [&](const SyntaxArgument& argument, std::span<const SyntaxArgument> children) {
    if (IsOnlyAlternative(argument, children, command)) {
      ForEachShown(children, command, [&](const SyntaxArgument& one, std::span<const SyntaxArgument> nested) {
        WriteArgument(reply, one, nested, command);
      });
    } else {
      WriteArgument(reply, argument, children, command);
    }
  });
}

// Writes the field `history` of COMMAND DOCS. A history such as "6.2.0: text|7.0.0: text" becomes pairs of a version
// and a text.
void WriteHistory(Reply& reply, std::string_view history) {
  const std::vector<Bytes> entries = SplitOn(history, '|');
  reply.Bulk("history");
  reply.Set(entries.size());
  for (Bytes entry : entries) {
    const size_t colon = entry.find(':');
    reply.Array(2);
    reply.Bulk(entry.substr(0, colon));
    reply.Bulk(TrimSpaces(entry.substr(colon + 1)));
  }
}

// Writes the field `doc_flags`. Writes nothing if there are no flags.
void WriteDocFlags(Reply& reply, const std::vector<std::string_view>& flags) {
  if (flags.empty()) return;
  reply.Bulk("doc_flags");
  WriteSetOfSimple(reply, flags);
}

}  // namespace

std::vector<std::string_view> CommandFlagNames(const Command& command) {
  const DialectTraits& traits = command.dialect->traits;
  const uint32_t flags = command.flags & ~command.dialect->HiddenFlags(command.full_name);
  std::vector<std::string_view> names =
      traits.describes_commands_fully ? NamesOf(flags, kCommandFlagNames) : NamesOf(flags, kFlagNamesOfRedis62);
  if (command.movable_keys) names.push_back("movablekeys");
  if (!traits.describes_commands_fully) return names;
  if (command.flags & kAllowBusy) names.push_back("allow_busy");
  if (traits.shows_commandlog_flag) std::ranges::replace(names, std::string_view("skip_slowlog"), "skip_commandlog");
  return names;
}

std::string_view CommandGroupName(CommandGroup group) {
  constexpr std::array<std::string_view, 19> kNames = {
      "generic",      "string",     "list",   "set",       "sorted-set",  "hash",    "pubsub",
      "transactions", "connection", "server", "scripting", "hyperloglog", "cluster", "sentinel",
      "geo",          "stream",     "bitmap", "array",     "module"};
  return kNames[static_cast<size_t>(group)];
}

void WriteKeyFlags(Reply& reply, uint32_t key_flags) { WriteSetOfSimple(reply, NamesOf(key_flags, kKeyFlagNames)); }

void WriteCommandInfo(Reply& reply, const Command& command) {
  const CommandSpec& spec = command.Spec();
  const bool is_full = command.dialect->traits.describes_commands_fully;
  reply.Array(is_full ? 10 : 7);
  reply.Bulk(command.full_name);
  reply.Integer(command.arity);
  WriteSetOfSimple(reply, CommandFlagNames(command));
  reply.Integer(command.first_key);
  reply.Integer(command.last_key);
  reply.Integer(command.key_step);
  WriteCategories(reply, command.categories);
  if (!is_full) return;
  WriteTips(reply, command.dialect->ShownTips(command.full_name, spec.tips));
  const KeySpecs keys = command.dialect->AdjustKeys(command.full_name, spec.keys);
  reply.Set(keys.count);
  for (const KeySpec& key : keys.View()) WriteKeySpec(reply, key);
  // As in Redis, the reply has an empty set, not an empty array, if the command has no subcommands.
  if (command.subcommands.empty()) return reply.Set(0);
  reply.Array(command.subcommands.size());
  for (const Command& sub : command.subcommands) WriteCommandInfo(reply, sub);
}

void WriteCommandDocs(Reply& reply, const Command& command) {
  const CommandSpec& spec = command.Spec();
  const CommandSyntax syntax = ParseSyntax(spec.syntax);
  const Dialect& dialect = *command.dialect;
  const bool deprecated = dialect.Deprecates(command.full_name, spec.deprecated_since);
  const bool replaced = !spec.replaced_by.empty() && (deprecated || spec.deprecated_since.IsEmpty());
  std::vector<std::string_view> doc_flags;
  if (deprecated) doc_flags.push_back("deprecated");
  if (spec.syscmd || dialect.IsSystemCommand(command.full_name)) doc_flags.push_back("syscmd");
  const std::string_view since = dialect.ShownSince(command.full_name, spec.since);
  const bool has_arguments = CountOf(syntax.Arguments(), command) > 0;
  // As in Redis, commands of modules have no complexity.
  const bool has_complexity = spec.module.empty() && !spec.complexity.empty();
  reply.Map(1u + !spec.summary.empty() + !since.empty() + !spec.module.empty() + has_complexity + !doc_flags.empty() +
            deprecated + replaced + !spec.history.empty() + has_arguments + !command.subcommands.empty());
  if (!spec.summary.empty()) WritePair(reply, "summary", spec.summary);
  if (!since.empty()) WritePair(reply, "since", since);
  WritePair(reply, "group", CommandGroupName(spec.group));
  if (!spec.module.empty()) WritePair(reply, "module", spec.module);
  if (has_complexity) WritePair(reply, "complexity", spec.complexity);
  WriteDocFlags(reply, doc_flags);
  if (deprecated) WritePair(reply, "deprecated_since", dialect.ShownVersion(spec.deprecated_since));
  if (replaced) WritePair(reply, "replaced_by", spec.replaced_by);
  if (!spec.history.empty()) WriteHistory(reply, spec.history);
  WriteArguments(reply, syntax.Arguments(), command);
  if (command.subcommands.empty()) return;
  reply.Bulk("subcommands");
  reply.Map(command.subcommands.size());
  for (const Command& sub : command.subcommands) {
    reply.Bulk(sub.full_name);
    WriteCommandDocs(reply, sub);
  }
}

}  // namespace respite
