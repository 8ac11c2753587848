#include "server/lab/lint/habit_check.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/glob.h"
#include "base/str_cat.h"
#include "server/catalogue/command_syntax.h"
#include "server/clients/clients.h"
#include "server/clients/session.h"
#include "server/lab/lint/used_arguments.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

constexpr size_t kMaxWritten = 10'000;
constexpr uint64_t kLongWatch = 50;  // requests after a WATCH without EXEC
constexpr std::array<Bytes, 5> kTtlOptions = {"EX", "PX", "EXAT", "PXAT", "KEEPTTL"};
constexpr std::array<Bytes, 3> kOverwritingCommands = {"set", "getset", "mset"};  // these remove the previous deadline
constexpr std::array<Bytes, 3> kCommandsWithDeadline = {"setex", "psetex", "restore"};

bool IsAtMost(const VersionMark& mark, const Version& most) { return mark.IsIn({ServerFamily::kRedis, most}); }

bool CreatesKeys(const KeyRef& key) { return (key.flags & (kKeyInsert | kKeyUpdate | kKeyOW | kKeyRW)) != 0; }

std::string ExplainNoTtl(const KeyName& key) { return QuotedForRemark(key.key) + " has no deadline"; }

// Returns whether the syntax says in which version the argument was added or deprecated.
bool HasMarks(const SyntaxArgument& argument) {
  return !argument.since.IsEmpty() || !argument.deprecated_since.IsEmpty();
}

}  // namespace

void HabitCheck::CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) {
  if (request.place == Place::kSent) unchecked_keys_.clear();
  if (request.place == Place::kQueued) return;
  CheckNoTtl(request, remarks);
  CheckVersions(request, remarks);
  CheckWatchWithoutExec(request, remarks);
}

// --- no-ttl

void HabitCheck::CheckNoTtl(const LintRequest& request, LintRemarks& remarks) {
  if (!request.command.Is(kWrite)) return;
  const bool sets_deadline =
      request.IsOneOf(kCommandsWithDeadline) ||
      std::ranges::any_of(kTtlOptions, [&](Bytes word) { return request.Is("set") && request.HasOption(3, word); });
  const Glob pattern(parts_.limits.timed_keys);
  for (const KeyRef& ref : request.keys) {
    KeyName key = request.Key(ref);
    if (!CreatesKeys(ref) || !pattern.Matches(key.key)) continue;
    if (request.place != Place::kSent) {
      // Checks the key only when the transaction or script has ended (CheckAfterSuccess), because a later command of it
      // may give the key a deadline.
      if (unchecked_keys_.size() < kMaxWritten) unchecked_keys_.insert(std::move(key));
      continue;
    }
    const Entry* const entry = FindUnexpired(parts_, key);
    const bool keeps = entry != nullptr && entry->Deadline() != kNoDeadline && !request.IsOneOf(kOverwritingCommands);
    if (sets_deadline || keeps) continue;
    // Reports a write to an existing key only if the command overwrites the key, and so removes its deadline. SETNX and
    // SET NX do not overwrite it.
    const bool sets_new_key = request.Is("set") && request.HasOption(3, "NX");
    if (entry == nullptr || (request.IsOneOf(kOverwritingCommands) && !sets_new_key)) {
      remarks.push_back({.rule = LintRule::kNoTtl, .why = ExplainNoTtl(key), .key = key.key});
    }
  }
}

// --- deprecated, newer

void HabitCheck::CheckVersions(const LintRequest& request, LintRemarks& remarks) const {
  const CommandSpec& spec = request.command.Spec();
  const std::string name = ToUpper(request.command.full_name);
  CheckVersionMarks(name, spec.since, spec.deprecated_since, spec.replaced_by, remarks);
  const CommandSyntax syntax = ParseSyntax(spec.syntax);
  if (std::ranges::none_of(syntax.Arguments(), HasMarks)) return;
  for (const UsedArgument& used : UsedArguments(syntax, request.words)) {
    const SyntaxArgument& option = *used.argument;
    const std::string shown = option.HasToken() ? std::string(option.token) : ToUpper(option.name);
    const VersionMark since = used.versioned_argument == nullptr ? VersionMark() : used.versioned_argument->since;
    CheckVersionMarks(name + " " + shown, since, option.deprecated_since, "", remarks);
  }
}

void HabitCheck::CheckVersionMarks(const std::string& what, const VersionMark& since,
                                   const VersionMark& deprecated_since, Bytes replaced_by, LintRemarks& remarks) const {
  const Version& newest = parts_.limits.newest;
  if (!IsAtMost(since, newest)) {
    remarks.push_back({.rule = LintRule::kNewer,
                       .why = what + " is not in " + VersionLimitText(newest) + ": it came with " + since.Text()});
  }
  if (!deprecated_since.IsEmpty() && IsAtMost(deprecated_since, parts_.limits.deprecated_until)) {
    remarks.push_back({.rule = LintRule::kDeprecated,
                       .why = what + " is deprecated since " + deprecated_since.Text() +
                              (replaced_by.empty() ? "" : ". Instead: " + std::string(replaced_by))});
  }
}

// --- watch-without-exec

void HabitCheck::CheckWatchWithoutExec(const LintRequest& request, LintRemarks& remarks) {
  if (request.place != Place::kSent) return;
  const auto found = watching_clients_.find(request.client.id);
  if (found == watching_clients_.end()) return;
  if (request.number - found->second.number != kLongWatch) return;
  remarks.push_back({.rule = LintRule::kWatchWithoutExec,
                     .why = StrCat(QuotedForRemark(found->second.key), " is watched since ", kLongWatch,
                                   " requests, without EXEC, DISCARD or UNWATCH"),
                     .key = found->second.key});
}

void HabitCheck::CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) {
  if (request.place != Place::kSent) return;
  for (const KeyName& key : std::exchange(unchecked_keys_, {})) {
    const Entry* const entry = FindUnexpired(parts_, key);
    if (entry == nullptr || entry->Deadline() != kNoDeadline) continue;
    remarks.push_back({.rule = LintRule::kNoTtl, .why = ExplainNoTtl(key), .key = key.key});
  }
  NoteWatch(request);
}

void HabitCheck::NoteWatch(const LintRequest& request) {
  if (!request.Is("watch")) return NoteFailedRequest(request.client);
  if (request.keys.IsEmpty()) return;
  ClearIfFull(watching_clients_, kMaxClients);
  const std::string first(request.words[request.keys[0].index]);
  watching_clients_.try_emplace(request.client.id,
                                WatchingClient{.client = request.owner, .key = first, .number = request.number});
}

// Forgets the WATCH of a client that no longer watches keys. Also called after failed requests, because a failed EXEC
// ends a WATCH.
void HabitCheck::NoteFailedRequest(const Session& client) {
  if (!watching_clients_.empty() && !HasWatchedKeys(client)) watching_clients_.erase(client.id);
}

void HabitCheck::ReportGoneClients(LintRemarks& remarks) {
  std::erase_if(watching_clients_, [&](const auto& row) {
    const WatchingClient& watching = row.second;
    if (parts_.clients.Find(watching.client->id) != nullptr) return false;
    remarks.push_back({.rule = LintRule::kWatchWithoutExec,
                       .why = NameForRemark(watching.client) + " has left while it watched " +
                              QuotedForRemark(watching.key) + ", without EXEC, DISCARD or UNWATCH",
                       .key = watching.key,
                       .client = watching.client});
    return true;
  });
}

}  // namespace respite
