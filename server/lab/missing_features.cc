#include "server/lab/missing_features.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "server/catalogue/command_syntax.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/refusals.h"
#include "server/clients/current_execution.h"
#include "server/clients/session.h"
#include "server/config/config.h"
#include "server/lab/request_text.h"

namespace respite {

namespace {

using FeatureKind = MissingFeature::Kind;

constexpr size_t kMaxBytes = 64;  // limit for a name

std::string FeatureName(Bytes word) { return ToUpper(word.substr(0, kMaxBytes)); }

bool HasToken(const CommandSyntax& syntax, Bytes word) {
  return std::ranges::any_of(syntax.Arguments(), [word](const SyntaxArgument& argument) {
    return argument.HasToken() && EqualsIgnoreCase(argument.token, word);
  });
}

// Returns how many plain arguments begin a command's syntax. A plain argument is always present, is single, and has no
// token. SET has two: the key and the value.
size_t PlainArguments(const CommandSyntax& syntax) {
  const auto arguments = syntax.Arguments();
  const auto end = std::ranges::find_if(arguments, [](const SyntaxArgument& argument) {
    return argument.optional || argument.multiple || argument.HasToken() || argument.size != 1;
  });
  return static_cast<size_t>(end - arguments.begin());
}

bool LooksLikeOption(Bytes word) {
  constexpr Bytes kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  return !word.empty() && word.find_first_not_of(kLetters) == Bytes::npos;
}

bool IsPattern(Bytes name) { return name.find_first_of("*?[\\") != Bytes::npos; }

}  // namespace

void MissingFeatures::Clear() {
  features_.clear();
  features_in_order_.clear();
}

void MissingFeatures::TakeOverFrom(MissingFeatures& before) {
  features_ = std::move(before.features_);
  features_in_order_ = std::move(before.features_in_order_);
  before.Clear();
}

const Session& MissingFeatures::ClientOf(const Session& session) const {
  return session.IsScript() && parts_.current_execution.session != nullptr ? *parts_.current_execution.session
                                                                           : session;
}

void MissingFeatures::OnRefusal(const RefusedCall& call) {
  const Session& client = ClientOf(call.session);
  if (call.command != nullptr || call.words.empty() || IsTestOrServerTraffic(client, nullptr)) return;
  const Request request{client, call.words, NonSecretArgumentCount(parts_.env.commands, nullptr, call.words)};
  if (parts_.env.commands.Find(call.words[0]) == nullptr)
    return Note(FeatureKind::kCommand, FeatureName(call.words[0]), request);
  if (call.words.size() > 1) {
    Note(FeatureKind::kSubcommand, FeatureName(call.words[0]) + " " + FeatureName(call.words[1]), request);
  }
}

void MissingFeatures::OnCall(const FinishedCall& call) {
  const bool is_of_config = call.command.parent != nullptr && call.command.parent->full_name == "config";
  const bool has_failed = call.ending == FinishedCall::Ending::kFailed;
  if ((!is_of_config && !has_failed) || IsTestOrServerTraffic(ClientOf(call.session), &call.command)) return;
  if (is_of_config) return NoteDirectives(call);
  if (call.error == refusals::kSyntax) NoteOption(call);
}

// Records the first argument that looks like an option but is not in the command's syntax. Does not look at the plain
// arguments at the beginning, because they may have any text.
void MissingFeatures::NoteOption(const FinishedCall& call) {
  const CommandSyntax syntax = ParseSyntax(call.command.Spec().syntax);
  const size_t public_words = call.command.Spec().public_words;
  const size_t begin = (call.command.parent == nullptr ? 1 : 2) + PlainArguments(syntax);
  for (size_t i = begin; i < std::min(call.words.size(), public_words); ++i) {
    if (!LooksLikeOption(call.words[i]) || HasToken(syntax, call.words[i])) continue;
    std::string name = FeatureName(call.command.full_name);
    std::ranges::replace(name, '|', ' ');
    return Note(FeatureKind::kOption, name + " " + FeatureName(call.words[i]),
                {ClientOf(call.session), call.words, public_words});
  }
}

void MissingFeatures::NoteDirectives(const FinishedCall& call) {
  const bool is_set = call.command.name == "set";
  const bool is_odd = call.words.size() % 2 != 0;
  if ((!is_set && call.command.name != "get") || (is_set && is_odd)) return;
  for (size_t i = 2; i < call.words.size(); i += is_set ? 2 : 1) {
    const Bytes name = call.words[i];
    const std::string names[] = {std::string(name)};
    if (IsPattern(name) || !parts_.env.config.Get(names).empty()) continue;
    Note(FeatureKind::kDirective, std::string(name.substr(0, kMaxBytes)),
         {ClientOf(call.session), call.words, is_set ? 3U : SIZE_MAX});
  }
}

void MissingFeatures::Note(FeatureKind kind, std::string name, const Request& request) {
  const auto client = RequestOwner::Of(request.client);
  std::string same = std::to_string(static_cast<int>(kind));
  for (const Bytes part : {Bytes(name), Bytes(client->name), Bytes(client->library), Bytes(client->user)}) {
    same += '\n';
    same += part;
  }
  const int64_t now_ms = parts_.env.clock.WallMs();
  const auto found = features_.find(same);
  if (found != features_.end()) {
    ++found->second.count;
    found->second.last_ms = now_ms;
    return;
  }
  if (features_.size() >= kMaxFeatures) return;
  MissingFeature feature{.kind = kind,
                         .name = std::move(name),
                         .request = RequestText(request.words, request.hidden_from),
                         .first_client = client,
                         .count = 1,
                         .first_ms = now_ms,
                         .last_ms = now_ms};
  features_in_order_.push_back(&features_.emplace(std::move(same), std::move(feature)).first->second);
}

}  // namespace respite
