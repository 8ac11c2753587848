// ACL: users, their permissions, and the log of refused commands and failed logins.
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "persistence/file_system.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/acl/acl_log.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kBadUserName[] = "ERR Usernames can't contain spaces or null characters";
constexpr char kTooManyRules[] = "ERR Too many rules, at most 10000 are possible in one request";
constexpr char kDefaultUserStays[] = "ERR The 'default' user cannot be removed";
constexpr char kGenPassBits[] =
    "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096";
Refusal NoAclFile(const DialectTraits& traits) {
  const std::string redis = traits.acl_file_error_names_redis ? "Redis " : "";
  return {"ERR This " + redis +
          "instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command "
          "and then issue a CONFIG REWRITE (assuming you have a " +
          redis + "configuration file set) in order to store users in the " + redis + "configuration."};
}
constexpr char kAclNotSaved[] =
    "ERR There was an error trying to save the ACLs. Please check the server logs for more information";
Refusal UnknownCategory(Bytes name) { return {"ERR Unknown category '" + std::string(name) + "'"}; }
Refusal UserNotFound(Bytes user) { return {"ERR User '" + std::string(user) + "' not found"}; }
Refusal CommandNotFound(Bytes name) { return {"ERR Command '" + std::string(name) + "' not found"}; }
Refusal BadAclRule(Bytes rule, Bytes reason) {
  return {"ERR Error in ACL SETUSER modifier '" + std::string(rule) + "': " + std::string(reason)};
}
Refusal UnmatchedSelector(Bytes begin) {
  return {"ERR Unmatched parenthesis in acl selector starting at '" + std::string(begin) + "'."};
}

}  // namespace
}  // namespace refusals

namespace {

constexpr uint32_t kManagesUsers = kAdmin | kNoScript | kLoading | kStale;
constexpr uint32_t kAsksOnly = kNoScript | kLoading | kStale;
constexpr char kEveryNode[] = "request_policy:all_nodes response_policy:all_succeeded";

struct AclCat {
  static constexpr CommandSpec spec = {.syntax = "ACL|CAT [category]",
                                       .where = Where::kEverywhere,
                                       .summary = "Lists the categories of commands, or the commands of one.",
                                       .since = "6.0.0",
                                       .complexity = "O(1), the number of categories and commands being fixed",
                                       .group = CommandGroup::kServer,
                                       .flags = kAsksOnly};
  static void Run(Call& call) {
    const std::vector<std::string_view> categories = AclCategoryNamesIn(call.services.env.dialect);
    if (call.args.AtEnd()) return call.reply.BulkArray(categories);
    if (call.args.Left() > 1) throw refusals::SubcommandSyntax(call.services.env.dialect, "ACL", call.args.Words()[1]);
    const Bytes name = call.args.Next();
    uint32_t category = AclCategoryByName(name);
    const bool is_hidden = category != 0 && std::ranges::find(categories, ToLower(name)) == categories.end();
    if (call.services.env.dialect.EmulatesVersion() && is_hidden) category = 0;
    if (category == 0) throw refusals::UnknownCategory(name);
    std::vector<Bytes> names;
    call.services.env.commands.ForEach([&](const Command& command) {
      if ((command.categories & category) != 0) names.emplace_back(command.full_name);
    });
    call.reply.BulkArray(names);
  }
};

// Hides the user names of this request in SLOWLOG and MONITOR, if the emulated version does so.
void RedactUsers(Call& call) {
  if (!call.services.env.dialect.traits.slowlog_hides_users) return;
  for (size_t word = 2; word < call.args.Count(); ++word) call.Redact(word);
}

struct AclDelUser {
  static constexpr CommandSpec spec = {.syntax = "ACL|DELUSER username...",
                                       .where = Where::kEverywhere,
                                       .summary = "Deletes users and closes their connections.",
                                       .since = "6.0.0",
                                       .complexity = "O(1) for each user, and O(N) for N connections",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers,
                                       .tips = kEveryNode};
  static void Run(Call& call) {
    int64_t deleted = 0;
    RedactUsers(call);
    while (!call.args.AtEnd()) {
      const Bytes name = call.args.Next();
      if (name == "default") throw Refusal{refusals::kDefaultUserStays};
      const User* user = call.services.clients.users.Find(name);
      if (user == nullptr) continue;
      call.services.clients.permissions.CloseSessionsOf(*user, &call.session);
      call.services.clients.users.Remove(*user);
      ++deleted;
    }
    call.reply.Integer(deleted);
  }
};

struct AclDryRun {
  static constexpr CommandSpec spec = {.syntax = "ACL|DRYRUN username command [arg...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Tells whether a user could run a command, without running it.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers};
  static void Run(Call& call) {
    const Bytes name = call.args.Next();
    const User* user = call.services.clients.users.Find(name);
    if (user == nullptr) throw refusals::UserNotFound(name);
    const auto words = call.args.Words().subspan(3);
    const Command* command = call.services.execution.executor.Resolve(words);
    if (command == nullptr) throw refusals::CommandNotFound(words[0]);
    if (!command->FitsArity(words.size())) throw refusals::WrongArity(*command, words);
    AclRequest request(*command, words, {call.session.db, call.services.env.settings.DatabaseCount()});
    const AclVerdict verdict = user->Check(request);
    if (verdict.IsAllowed()) return call.reply.Ok();
    call.reply.Bulk(DenialText(*user, request, verdict, DenialDetail::kNamed, call.services.env.dialect.traits));
  }
};

struct AclGenPass {
  static constexpr int64_t kMaxBits = 4096;
  static constexpr CommandSpec spec = {.syntax = "ACL|GENPASS [bits:integer]",
                                       .where = Where::kEverywhere,
                                       .summary = "Creates a random password with this number of bits.",
                                       .since = "6.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAsksOnly};
  static void Run(Call& call) {
    if (call.args.Left() > 1) throw refusals::SubcommandSyntax(call.services.env.dialect, "ACL", call.args.Words()[1]);
    const int64_t bits = call.args.AtEnd() ? 256 : call.args.NextInteger();
    if (bits <= 0 || bits > kMaxBits) throw Refusal{refusals::kGenPassBits};
    call.reply.Bulk(call.services.data.dataset.ids.Hex(static_cast<size_t>((bits + 3) / 4)));
  }
};

constexpr std::string_view kSanitizing = "sanitize-payload";

struct AclGetUser {
  static constexpr CommandSpec spec = {.syntax = "ACL|GETUSER username",
                                       .where = Where::kEverywhere,
                                       .summary = "Tells what a user may do.",
                                       .since = "6.0.0",
                                       .complexity = "O(N) for N rules of the user",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers};
  static void Run(Call& call) {
    RedactUsers(call);
    const User* user = call.services.clients.users.Find(call.args.Next());
    if (user == nullptr) return call.reply.Null();
    const DialectTraits& traits = call.services.env.dialect.traits;
    if (!traits.users_have_selectors) return WriteWithoutSelectors(call.reply, *user);
    call.reply.Map(ShowsDatabases(user->Selectors().front(), traits) ? 7 : 6);
    WriteFlags(call.reply, ShownFlags(*user, traits));
    call.reply.Bulk("passwords");
    call.reply.BulkArray(user->PasswordHashes());
    WriteSelector(call.reply, user->Selectors().front(), traits);
    call.reply.Bulk("selectors");
    call.reply.Array(user->Selectors().size() - 1);
    for (const Selector& selector : user->Selectors().subspan(1)) {
      call.reply.Map(ShowsDatabases(selector, traits) ? 4 : 3);
      WriteSelector(call.reply, selector, traits);
    }
  }

 private:
  static std::vector<std::string> ShownFlags(const User& user, const DialectTraits& traits) {
    std::vector<std::string> flags = user.Flags();
    if (!traits.users_show_sanitize_payload) std::erase(flags, kSanitizing);
    return flags;
  }
  static void WriteFlags(Reply& reply, const std::vector<std::string>& flags) {
    reply.Bulk("flags");
    reply.Set(flags.size());
    for (const std::string& flag : flags) reply.Bulk(flag);
  }
  // Writes a name and a list of patterns for ACL GETUSER. Omits the first character of each pattern, which tells its
  // kind (`~`, `&`).
  static void WritePatterns(Reply& reply, Bytes name, Bytes patterns) {
    std::vector<Bytes> each = patterns.empty() ? std::vector<Bytes>() : SplitOn(patterns, ' ');
    for (Bytes& pattern : each) pattern.remove_prefix(1);
    reply.Bulk(name);
    reply.BulkArray(each);
  }
  // Writes the reply of ACL GETUSER in the form of Redis 6.2, where flags such as "allkeys" say which rights are
  // unlimited.
  static void WriteWithoutSelectors(Reply& reply, const User& user) {
    const Selector& selector = user.Selectors().front();
    std::vector<std::string> flags = user.Flags();
    std::erase(flags, kSanitizing);
    std::vector<std::string> unlimited;
    if (selector.Keys() == "~*") unlimited.emplace_back("allkeys");
    if (selector.Channels() == "&*") unlimited.emplace_back("allchannels");
    if (selector.Commands() == "+@all") unlimited.emplace_back("allcommands");
    flags.insert(flags.begin() + 1, unlimited.begin(), unlimited.end());
    reply.Map(5);
    WriteFlags(reply, flags);
    reply.Bulk("passwords");
    reply.BulkArray(user.PasswordHashes());
    reply.Bulk("commands");
    reply.Bulk(selector.Commands());
    WritePatterns(reply, "keys", selector.Keys());
    WritePatterns(reply, "channels", selector.Channels());
  }
  // Returns whether ACL GETUSER shows the rules about databases: the emulated version has such rules, or this selector
  // does not allow all databases.
  static bool ShowsDatabases(const Selector& selector, const DialectTraits& traits) {
    return traits.users_have_databases || !selector.AllowsAllDatabases();
  }
  static void WriteSelector(Reply& reply, const Selector& selector, const DialectTraits& traits) {
    reply.Bulk("commands");
    reply.Bulk(selector.Commands());
    reply.Bulk("keys");
    reply.Bulk(selector.Keys());
    reply.Bulk("channels");
    reply.Bulk(selector.Channels());
    if (!ShowsDatabases(selector, traits)) return;
    reply.Bulk("databases");
    reply.Bulk(selector.Databases());
  }
};

struct AclHelp {
  static constexpr CommandSpec spec = {.syntax = "ACL|HELP",
                                       .where = Where::kEverywhere,
                                       .summary = "Lists the subcommands of ACL.",
                                       .since = "6.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"CAT [<category>]",
                     "    The categories of commands, or the commands of one.",
                     "DELUSER <username> [<username> ...]",
                     "    Delete users and close their connections.",
                     "DRYRUN <username> <command> [<arg> ...]",
                     "    Whether the user could run this command.",
                     "GENPASS [<bits>]",
                     "    A random password of 256 bits, or of the given number.",
                     "GETUSER <username>",
                     "    The rules of the user.",
                     "LIST",
                     "    All users with their rules.",
                     "LOAD",
                     "    Read the ACL file again.",
                     "LOG [<count> | RESET]",
                     "    The log of refused requests and logins, the latest first.",
                     "SAVE",
                     "    Write the users to the ACL file.",
                     "SETUSER <username> [<rule> ...]",
                     "    Create a user, or change its rules.",
                     "USERS",
                     "    The names of all users.",
                     "WHOAMI",
                     "    The user of this connection."});
  }
};

struct AclList {
  static constexpr CommandSpec spec = {.syntax = "ACL|LIST",
                                       .where = Where::kEverywhere,
                                       .summary = "Lists all users with their rules, in the format of an ACL file.",
                                       .since = "6.0.0",
                                       .complexity = "O(N) for N users",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers};
  static void Run(Call& call) {
    std::vector<std::string> lines = call.services.clients.users.AclFileLines();
    if (!call.services.env.dialect.traits.users_show_sanitize_payload) {
      for (std::string& line : lines) HideSanitizing(line);
    }
    call.reply.BulkArray(lines);
  }

 private:
  static void HideSanitizing(std::string& line) {
    const std::string word = " " + std::string(kSanitizing);
    const size_t at = line.find(word + " ");
    if (at != std::string::npos) line.erase(at, word.size());
  }
};

struct AclLoad {
  static constexpr CommandSpec spec = {.syntax = "ACL|LOAD",
                                       .where = Where::kEverywhere,
                                       .summary = "Reads the users from the ACL file again.",
                                       .since = "6.0.0",
                                       .complexity = "O(N) for N users",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers};
  static void Run(Call& call) {
    if (call.services.env.settings.aclfile.empty()) throw refusals::NoAclFile(call.services.env.dialect.traits);
    if (auto trouble = call.services.clients.permissions.LoadAclFile(&call.session)) throw Refusal{"ERR " + *trouble};
    call.reply.Ok();
  }
};

struct AclLogCommand {
  static constexpr size_t kUsualCount = 10;
  static constexpr CommandSpec spec = {.syntax = "ACL|LOG [operation(count:integer|RESET)]",
                                       .where = Where::kEverywhere,
                                       .summary = "Lists the latest refusals, or clears the log.",
                                       .since = "6.0.0",
                                       .complexity = "O(N) for N entries",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers};
  static void Run(Call& call) {
    if (call.args.Left() > 1) throw refusals::SubcommandSyntax(call.services.env.dialect, "ACL", call.args.Words()[1]);
    if (call.args.TakeToken("RESET")) {
      call.services.clients.acl_log.Clear();
      return call.reply.Ok();
    }
    const int64_t wanted = call.args.AtEnd() ? int64_t{kUsualCount} : call.args.NextInteger();
    const auto& entries = call.services.clients.acl_log.Entries();
    const size_t count = std::min(entries.size(), static_cast<size_t>(std::max<int64_t>(wanted, 0)));
    const int64_t now_ms = call.services.env.clock.WallMs();
    call.reply.Array(count);
    for (size_t i = 0; i < count; ++i) WriteEntry(call.reply, entries[i], now_ms);
  }

 private:
  static void WriteEntry(Reply& reply, const AclLogEntry& entry, int64_t now_ms) {
    const auto text = [&reply](Bytes name, Bytes value) {
      reply.Bulk(name);
      reply.Bulk(value);
    };
    const auto number = [&reply](Bytes name, int64_t value) {
      reply.Bulk(name);
      reply.Integer(value);
    };
    reply.Map(10);
    number("count", static_cast<int64_t>(entry.count));
    text("reason", NameOf(entry.reason));
    text("context", NameOf(entry.context));
    text("object", entry.object);
    text("username", entry.username);
    reply.Bulk("age-seconds");
    reply.Double(static_cast<double>(now_ms - entry.updated_ms) / 1000);
    text("client-info", entry.client);
    number("entry-id", static_cast<int64_t>(entry.id));
    number("timestamp-created", entry.created_ms);
    number("timestamp-last-updated", entry.updated_ms);
  }
};

struct AclSave {
  static constexpr CommandSpec spec = {.syntax = "ACL|SAVE",
                                       .where = Where::kEverywhere,
                                       .summary = "Writes the users to the ACL file.",
                                       .since = "6.0.0",
                                       .complexity = "O(N) for N users",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers,
                                       .tips = kEveryNode};
  static void Run(Call& call) {
    const std::string& path = call.services.env.settings.aclfile;
    if (path.empty()) throw refusals::NoAclFile(call.services.env.dialect.traits);
    std::string text;
    for (const std::string& line : call.services.clients.users.AclFileLines()) text += line + "\n";
    if (const IoError error = ReplaceFile(call.services.env.files, path, text)) {
      call.services.env.log.Warning("Writing the ACL file " + path + ": " + IoErrorText(error));
      throw Refusal{refusals::kAclNotSaved};
    }
    call.reply.Ok();
  }
};

// For ACL SETUSER in emulated versions before 7.0, which have no selectors: refuses selectors such as `(+get ~k)`, and
// key patterns for reading or writing only, such as `%R~k`.
void RefuseSelectors(std::span<const std::string> rules) {
  for (const std::string& rule : rules) {
    if (rule.starts_with('(') || rule.starts_with('%')) throw refusals::BadAclRule(rule, kAclSyntaxError);
  }
}

// The maximum number of rules in one ACL SETUSER. This limit bounds the time of the command, because each rule may be
// compared with all rules of the user.
constexpr size_t kMaxRules = 10'000;

struct AclSetUser {
  static constexpr CommandSpec spec = {.syntax = "ACL|SETUSER username [rule...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Creates a user, or changes its rules.",
                                       .since = "6.0.0",
                                       .complexity = "O(N) for N rules",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers,
                                       .tips = kEveryNode,
                                       .public_words = 3};
  static void Run(Call& call) {
    for (size_t word = 2; word < call.args.Count(); ++word) call.Redact(word);
    const Bytes name = call.args.Next();
    if (!IsValidUserName(name)) throw Refusal{refusals::kBadUserName};
    if (call.args.Left() > kMaxRules) throw Refusal{refusals::kTooManyRules};
    const MergedRules merged = MergeSelectorArguments(call.args.Words().subspan(3));
    if (merged.unmatched) throw refusals::UnmatchedSelector(*merged.unmatched);
    if (!call.services.env.dialect.traits.users_have_selectors) RefuseSelectors(merged.rules);
    const auto set = call.services.clients.users.Set(name, merged.rules, [&](const User& before, const User& after) {
      call.services.clients.permissions.CloseForbiddenSubscribers(before, after, &call.session);
    });
    if (!set) throw refusals::BadAclRule(set.error().rule, set.error().reason);
    call.reply.Ok();
  }
};

struct AclUsers {
  static constexpr CommandSpec spec = {.syntax = "ACL|USERS",
                                       .where = Where::kEverywhere,
                                       .summary = "Lists the names of all users.",
                                       .since = "6.0.0",
                                       .complexity = "O(N) for N users",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesUsers};
  static void Run(Call& call) {
    std::vector<Bytes> names;
    call.services.clients.users.ForEach([&](const User& user) { names.emplace_back(user.name()); });
    call.reply.BulkArray(names);
  }
};

struct AclWhoAmI {
  static constexpr CommandSpec spec = {.syntax = "ACL|WHOAMI",
                                       .where = Where::kEverywhere,
                                       .summary = "Returns the user of this connection.",
                                       .since = "6.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAsksOnly};
  static void Run(Call& call) { call.reply.Bulk(call.session.user->name()); }
};

struct AclContainer {
  static constexpr CommandSpec spec = {.syntax = "ACL",
                                       .where = Where::kEverywhere,
                                       .summary = "Contains the subcommands about users.",
                                       .since = "6.0.0",
                                       .group = CommandGroup::kServer,
                                       .arity = -2};
};

constexpr auto kAclCommands = Family<AclContainer, AclCat, AclDelUser, AclDryRun, AclGenPass, AclGetUser, AclHelp,
                                     AclList, AclLoad, AclLogCommand, AclSave, AclSetUser, AclUsers, AclWhoAmI>();

}  // namespace

std::span<const CommandCard> AclCommands() { return kAclCommands; }

}  // namespace respite
