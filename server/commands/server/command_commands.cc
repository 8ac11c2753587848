// COMMAND: describes commands, their arguments and their keys to clients.

#include "base/glob.h"
#include "server/catalogue/command_docs.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kGetKeysCommand[] = "ERR Invalid command specified";
constexpr char kGetKeysNoKeys[] = "ERR The command has no key arguments";
constexpr char kGetKeysArity[] = "ERR Invalid number of arguments specified for command";
constexpr char kGetKeysArguments[] = "ERR Invalid arguments specified for command";

}  // namespace
}  // namespace refusals

namespace {

void ReplyInfoOfAll(Call& call) {
  const std::span<const Command* const> commands = call.services.env.commands.Commands();
  call.reply.Array(commands.size());
  for (const Command* command : commands) WriteCommandInfo(call.reply, *command);
}

struct CommandCount {
  static constexpr CommandSpec spec = {.syntax = "COMMAND|COUNT",
                                       .where = Where::kEverywhere,
                                       .summary = "Counts the commands this server knows.",
                                       .since = "2.8.13",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale,
                                       .categories = kAclConnection};
  static void Run(Call& call) {
    call.reply.Integer(static_cast<int64_t>(call.services.env.commands.Commands().size()));
  }
};

struct CommandDocs {
  static constexpr CommandSpec spec = {.syntax = "COMMAND|DOCS [command-name...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Describes commands for people: purpose, group, version, arguments.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N commands",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale,
                                       .categories = kAclConnection,
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    call.args.ExpectFewArguments();
    const std::vector<const Command*> commands = DescribedCommands(call);
    call.reply.Map(commands.size());
    for (const Command* command : commands) {
      call.reply.Bulk(command->full_name);
      WriteCommandDocs(call.reply, *command);
    }
  }

 private:
  // Returns the commands that COMMAND DOCS must describe: those that the request names, or all if it names none. As in
  // Redis, COMMAND DOCS skips unknown names.
  static std::vector<const Command*> DescribedCommands(Call& call) {
    const CommandTable& table = call.services.env.commands;
    if (call.args.AtEnd()) return {table.Commands().begin(), table.Commands().end()};
    std::vector<const Command*> commands;
    for (Bytes name : call.args.Rest())
      if (const Command* command = table.FindByFullName(name)) commands.push_back(command);
    return commands;
  }
};

struct CommandInfo {
  static constexpr CommandSpec spec = {.syntax = "COMMAND|INFO [command-name...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Describes commands for programs: arity, flags, keys, categories.",
                                       .since = "2.8.13",
                                       .complexity = "O(N) for N commands",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale,
                                       .categories = kAclConnection,
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    if (call.args.AtEnd()) return ReplyInfoOfAll(call);
    call.args.ExpectFewArguments();
    call.reply.Array(call.args.Left());
    for (Bytes name : call.args.Rest()) {
      const Command* command = call.services.env.commands.FindByFullName(name);
      command ? WriteCommandInfo(call.reply, *command) : call.reply.Null();
    }
  }
};

struct CommandList {
  static constexpr CommandSpec spec = {
      .syntax = "COMMAND|LIST [FILTERBY filterby(MODULE module-name|ACLCAT category|PATTERN pattern:pattern)]",
      .where = Where::kEverywhere,
      .summary = "Lists the names of commands and subcommands.",
      .since = "7.0.0",
      .complexity = "O(N) for N commands",
      .group = CommandGroup::kServer,
      .flags = kLoading | kStale,
      .categories = kAclConnection,
      .tips = "nondeterministic_output_order"};

  enum class By : uint8_t { kNone, kModule, kCategory, kPattern };
  struct Filter {
    By by = By::kNone;
    Glob pattern{{}, CaseMode::kIgnore};
    uint32_t category = 0;
    Bytes module = {};

    bool Lets(const Command& command) const {
      switch (by) {
        case By::kNone:
          return true;
        case By::kModule:
          return !module.empty() && EqualsIgnoreCase(command.Spec().module, module);
        case By::kCategory:
          return (command.categories & category) != 0;
        case By::kPattern:
          return pattern.Matches(command.full_name);
      }
      return false;
    }
  };

  static void Run(Call& call) {
    const Filter filter = TakeFilter(call.args);
    std::vector<std::string_view> names;
    call.services.env.commands.ForEach([&](const Command& command) {
      if (filter.Lets(command)) names.push_back(command.full_name);
    });
    call.reply.BulkArray(names);
  }

 private:
  static Filter TakeFilter(Args& args) {
    if (args.AtEnd()) return {};
    if (!args.TakeToken("FILTERBY") || args.Left() != 2) throw Refusal{refusals::kSyntax};
    Filter filter;
    if (args.TakeToken("MODULE")) {
      filter.by = By::kModule;
    } else if (args.TakeToken("ACLCAT")) {
      filter.by = By::kCategory;
    } else if (args.TakeToken("PATTERN")) {
      filter.by = By::kPattern;
    } else {
      throw Refusal{refusals::kSyntax};
    }
    const Bytes text = args.Next();
    filter.module = text;
    if (filter.by == By::kPattern) filter.pattern = Glob(text, CaseMode::kIgnore);
    if (filter.by == By::kCategory) filter.category = AclCategoryByName(text);
    return filter;
  }
};

enum class KeyDetail : uint8_t { kNames, kNamesAndFlags };

// Returns the key specs with the flags of the emulated version. Leaves out the flags that only say how a client must
// find the keys.
KeySpecs KeysWithFlags(const Command& command) {
  constexpr uint16_t kHowToFind = kKeyIncomplete | kKeyVariableFlags;
  const KeySpecs& declared = command.Spec().keys;
  KeySpecs keys = command.dialect->AdjustKeys(command.full_name, declared);
  for (size_t i = 0; i < keys.count; ++i) {
    const int own = keys.specs[i].flags & ~kHowToFind;
    keys.specs[i].flags = static_cast<uint16_t>(own | (declared.specs[i].flags & kHowToFind));
  }
  return keys;
}

// Returns the spec of the request that COMMAND GETKEYS describes. Throws a Refusal if the command is unknown, has no
// keys or has a wrong number of arguments.
CommandSpec SpecOfRequest(const Call& call, std::span<const Bytes> request) {
  const CommandTable& table = call.services.env.commands;
  const Command* command = table.Find(request[0]);
  if (command && command->IsContainer() && request.size() > 1) command = table.FindSubcommand(*command, request[1]);
  if (!command) throw Refusal{refusals::kGetKeysCommand};
  if (!MayHaveKeys(command->Spec())) throw Refusal{refusals::kGetKeysNoKeys};
  if (!command->FitsArity(request.size())) throw Refusal{refusals::kGetKeysArity};
  CommandSpec spec = command->Spec();
  spec.keys = KeysWithFlags(*command);
  return spec;
}

void ReplyKeys(Call& call, KeyDetail detail) {
  const std::span<const Bytes> request = call.args.Rest();
  const CommandSpec spec = SpecOfRequest(call, request);
  const KeyList keys = KeyPositions(spec, request);
  if (keys.IsEmpty() && !(spec.flags & kNoMandatoryKeys)) throw Refusal{refusals::kGetKeysArguments};
  call.reply.Array(keys.Size());
  for (const KeyRef& key : keys) {
    if (detail == KeyDetail::kNamesAndFlags) call.reply.Array(2);
    call.reply.Bulk(request[key.index]);
    if (detail == KeyDetail::kNamesAndFlags) WriteKeyFlags(call.reply, key.flags);
  }
}

struct CommandGetKeys {
  static constexpr CommandSpec spec = {.syntax = "COMMAND|GETKEYS command [arg...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Returns the keys of a complete request.",
                                       .since = "2.8.13",
                                       .complexity = "O(N) for N words of the request",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale,
                                       .categories = kAclConnection,
                                       .former_arity = {"7.2.0", -4}};
  static void Run(Call& call) { ReplyKeys(call, KeyDetail::kNames); }
};

struct CommandGetKeysAndFlags {
  static constexpr CommandSpec spec = {.syntax = "COMMAND|GETKEYSANDFLAGS command [arg...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Returns the keys of a complete request and how it uses them.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N words of the request",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale,
                                       .categories = kAclConnection,
                                       .former_arity = {"7.2.0", -4}};
  static void Run(Call& call) { ReplyKeys(call, KeyDetail::kNamesAndFlags); }
};

struct CommandHelp {
  static constexpr CommandSpec spec = {.syntax = "COMMAND|HELP",
                                       .where = Where::kEverywhere,
                                       .summary = "Lists the subcommands of COMMAND.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale,
                                       .categories = kAclConnection};
  static void Run(Call& call) {
    WriteHelp(call, {"(no subcommand)", "    As INFO without names.", "COUNT", "    How many commands there are.",
                     "LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]",
                     "    Names of commands and subcommands.", "INFO [<command-name> ...]",
                     "    Arity, flags, keys and categories of these commands, or of all.", "DOCS [<command-name> ...]",
                     "    Purpose and arguments of these commands, or of all.", "GETKEYS <full-command>",
                     "    The keys of a request.", "GETKEYSANDFLAGS <full-command>",
                     "    The keys of a request and what it does to each."});
  }
};

struct CommandContainer {
  static constexpr CommandSpec spec = {
      .syntax = "COMMAND",
      .where = Where::kEverywhere,
      .summary = "Describes all commands for programs; contains the subcommands about commands.",
      .since = "2.8.13",
      .complexity = "O(N) for N commands",
      .group = CommandGroup::kServer,
      .flags = kLoading | kStale,
      .categories = kAclConnection,
      .tips = "nondeterministic_output_order",
      .arity = -1};
  static void Run(Call& call) { ReplyInfoOfAll(call); }
};

constexpr auto kCommandCommands = Family<CommandContainer, CommandCount, CommandDocs, CommandGetKeys,
                                         CommandGetKeysAndFlags, CommandHelp, CommandInfo, CommandList>();

}  // namespace

std::span<const CommandCard> CommandCommands() { return kCommandCommands; }

}  // namespace respite
