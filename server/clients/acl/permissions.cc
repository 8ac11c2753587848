#include "server/clients/acl/permissions.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "persistence/file_system.h"
#include "server/catalogue/dialect.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/pubsub.h"
#include "server/config/config.h"
#include "server/config/settings.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

AclLogEntry::Reason ReasonOf(AclDenial denial) {
  switch (denial) {
    case AclDenial::kKey:
      return AclLogEntry::Reason::kKey;
    case AclDenial::kChannel:
      return AclLogEntry::Reason::kChannel;
    case AclDenial::kDatabase:
      return AclLogEntry::Reason::kDatabase;
    default:
      return AclLogEntry::Reason::kCommand;
  }
}

bool HasForbiddenSubscription(const Session& session, const User& user) {
  if (session.subscriptions == nullptr) return false;
  for (const PubSubKind kind : {PubSubKind::kChannel, PubSubKind::kPattern, PubSubKind::kShardChannel}) {
    for (const PubSubTopic* topic : session.subscriptions->ChannelsOfKind(kind)) {
      const ChannelUse use = kind == PubSubKind::kPattern ? ChannelUse::kPattern : ChannelUse::kName;
      if (!user.AllowsChannel(topic->name, use)) return true;
    }
  }
  return false;
}

std::string DenialInScript(AclDenial denial) {
  const std::string user = "The user executing the script can't ";
  if (denial == AclDenial::kCommand) return user + "run this command or subcommand";
  if (denial == AclDenial::kChannel) return user + "publish to the channel mentioned in the command";
  return user + "access at least one of the keys mentioned in the command arguments";
}

// Returns the error text of a refusal as Redis before 7.2 words it: without the name of the user.
std::string DenialWithoutUser(AclRequest& request, AclVerdict verdict, DenialDetail detail,
                              const DialectTraits& traits) {
  if (detail == DenialDetail::kInScript) return DenialInScript(verdict.denial);
  const bool is_named = detail == DenialDetail::kNamed;
  const std::string user = is_named ? "This user has no permissions to " : "this user has no permissions to ";
  if (verdict.denial == AclDenial::kCommand) {
    const Command& command = request.command();
    if (traits.errors_name_subcommands) return user + "run the '" + command.full_name + "' command";
    const Command& container = command.parent == nullptr ? command : *command.parent;
    return user + "run the '" + container.full_name + "' command or its subcommand";
  }
  const std::string kind = verdict.denial == AclDenial::kKey ? "key" : "channel";
  if (!is_named) return user + "access one of the " + kind + "s used as arguments";
  return user + "access the '" + std::string(request.words()[verdict.word]) + "' " + kind;
}

}  // namespace

std::string DenialText(const User& user, AclRequest& request, AclVerdict verdict, DenialDetail detail,
                       const DialectTraits& traits) {
  if (!traits.denials_name_users) return DenialWithoutUser(request, verdict, detail, traits);
  const std::string where = detail == DenialDetail::kInScript ? "ACL failure in script: " : "";
  if (verdict.denial == AclDenial::kCommand) {
    return where + "User " + user.name() + " has no permissions to run the '" + request.command().full_name +
           "' command";
  }
  if (verdict.denial == AclDenial::kDatabase) {
    if (detail != DenialDetail::kNamed) return where + "No permissions to access database";
    return "User " + user.name() + " has no permissions to access database " +
           std::string(request.words()[verdict.word]);
  }
  const std::string kind = verdict.denial == AclDenial::kKey ? "key" : "channel";
  if (detail != DenialDetail::kNamed) return where + "No permissions to access a " + kind;
  return "User " + user.name() + " has no permissions to access the '" + std::string(request.words()[verdict.word]) +
         "' " + kind;
}

std::string DenialTextAtExec(AclDenial denial) {
  const char* reason = denial == AclDenial::kCommand ? "no permission to execute the command or subcommand"
                       : denial == AclDenial::kKey   ? "no permission to touch the specified keys"
                       : denial == AclDenial::kDatabase
                           ? "no permission to access the database"
                           : "no permission to access one of the channels used as arguments";
  return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command "
         "is no longer allowed for the following reason: " +
         std::string(reason);
}

void Permissions::Note(AclLogEntry entry, const Session& client) {
  ++parts_.env.stats.acl_denials[static_cast<size_t>(entry.reason)];
  const DialectTraits& traits = DialectOf(parts_.env.settings.emulate).traits;
  if (traits.logs_of_length_zero_stay && parts_.env.settings.acllog_max_len <= 0) return;
  entry.client = ClientText(client, parts_.env.clock.MonotonicMs(), {}, traits);
  // Shortens long texts, because clients can choose keys and names of many megabytes, and the entry stays in the ACL
  // log.
  constexpr size_t kMaxTextBytes = 4096;
  for (std::string* text : {&entry.object, &entry.username, &entry.client}) {
    if (text->size() > kMaxTextBytes) *text = text->substr(0, kMaxTextBytes);
  }
  const auto most = static_cast<size_t>(std::max<int64_t>(parts_.env.settings.acllog_max_len, 0));
  parts_.acl_log.Add(std::move(entry), parts_.env.clock.WallMs(), most);
}

// Closes the session immediately. If the session is `running`, closes it only after the reply of its running command.
void Permissions::CloseNowOrAfterReply(Session& session, const Session* running) {
  if (&session == running) {
    session.close_after_reply = true;
  } else if (!session.closing) {
    parts_.clients.Close(session);
  }
}

AclVerdict Permissions::Check(const Session& session, AclRequest& request, AclLogEntry::Context context,
                              const Session& client) {
  if (session.user->IsUnlimited()) return {};
  const AclVerdict verdict = session.user->Check(request);
  if (verdict.IsAllowed()) return verdict;
  const bool is_command = verdict.denial == AclDenial::kCommand || verdict.word == 0;
  const Bytes object = is_command ? Bytes(request.command().full_name) : request.words()[verdict.word];
  Note({.reason = ReasonOf(verdict.denial),
        .context = context,
        .object = std::string(object),
        .username = session.user->name()},
       client);
  return verdict;
}

void Permissions::LogFailedLogin(const Session& session, Bytes command, Bytes user) {
  const auto context = session.InTransaction() ? AclLogEntry::Context::kMulti : AclLogEntry::Context::kTopLevel;
  Note({.reason = AclLogEntry::Reason::kAuth,
        .context = context,
        .object = std::string(command),
        .username = std::string(user)},
       session);
}

void Permissions::CloseSessionsOf(const User& user, const Session* running) {
  parts_.clients.ForEach([&](Session& session) {
    if (session.user != &user) return;
    session.user = &parts_.users.Default();
    session.authenticated = false;
    CloseNowOrAfterReply(session, running);
  });
}

void Permissions::CloseForbiddenSubscribers(const User& user, const User& next, const Session* running) {
  parts_.clients.ForEach([&](Session& session) {
    if (session.user == &user && HasForbiddenSubscription(session, next)) CloseNowOrAfterReply(session, running);
  });
}

std::optional<std::string> Permissions::LoadAclFile(const Session* running) {
  const std::string& path = parts_.env.settings.aclfile;
  const auto text = ReadFile(parts_.env.files, path, UINT64_MAX);
  if (!text) return "Error loading ACLs, opening file '" + path + "': " + IoErrorText(text.error());
  return LoadAclLines(text.value(), path, running);
}

std::optional<std::string> Permissions::LoadAclLines(Bytes text, const std::string& path, const Session* running) {
  const Users::Replacement replacement = {
      .keeps_users = DialectOf(parts_.env.settings.emulate).traits.acl_load_keeps_clients,
      .before_removal = [&](const User& user) { CloseSessionsOf(user, running); },
      .before_change = [&](const User& before,
                           const User& after) { CloseForbiddenSubscribers(before, after, running); }};
  const auto loaded = parts_.users.Load(text, path, replacement);
  if (loaded) return std::nullopt;
  return loaded.error() + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
}

std::optional<std::string> Permissions::LoadConfiguredUsers() {
  for (const ConfigLine& line : parts_.env.config.lines().user) {
    const std::string& name = line.words[1];
    if (!IsValidUserName(name)) return "Error loading the user '" + name + "': a name has no blanks";
    std::vector<Bytes> words(line.words.begin() + 2, line.words.end());
    if (name == "default") words.insert(words.begin(), "reset");  // otherwise the line could only add permissions
    const MergedRules merged = MergeSelectorArguments(words);
    if (merged.unmatched) return "Error loading ACL rule '" + *merged.unmatched + "' for the user named '" + name + "'";
    const auto set = parts_.users.Set(name, merged.rules, [](const User&, const User&) {});
    if (!set) {
      return "Error loading ACL rule '" + set.error().rule + "' for the user named '" + name +
             "': " + set.error().reason;
    }
  }
  if (parts_.env.settings.aclfile.empty()) return std::nullopt;
  if (!parts_.env.config.lines().user.empty()) {
    return "Configuring Redis with users defined in redis.conf and at the same setting an ACL file path is invalid. "
           "This setup is very likely to lead to configuration errors and security holes, please define either an ACL "
           "file or declare users directly in your redis.conf, but not both.";
  }
  auto trouble = LoadAclFile(nullptr);
  if (trouble) trouble->insert(0, "Aborting Redis startup because of ACL errors: ");
  return trouble;
}

}  // namespace respite
