#include "server/lab/lint/message_check.h"

#include <algorithm>
#include <array>

#include "base/glob.h"
#include "base/str_cat.h"
#include "datatypes/stream.h"
#include "datatypes/stream_group.h"
#include "server/clients/clients.h"
#include "server/clients/pubsub.h"
#include "server/config/settings.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

constexpr size_t kMaxConsumers = 10'000;
constexpr std::array<Bytes, 6> kPops = {"lpop", "rpop", "blpop", "brpop", "lmpop", "blmpop"};

// The consumer for which a request (XREADGROUP, XCLAIM, XAUTOCLAIM) makes stream entries pending.
struct Claim {
  Bytes group;
  Bytes consumer;
};

// Returns the group and consumer of an XREADGROUP. Its options before STREAMS may have any order. With the option
// NOACK, returns nullopt, because no entry becomes pending.
std::optional<Claim> ClaimOfReading(std::span<const Bytes> words) {
  std::optional<Claim> claim;
  for (size_t i = 1; i + 2 < words.size() && !EqualsIgnoreCase(words[i], "STREAMS"); ++i) {
    if (EqualsIgnoreCase(words[i], "NOACK")) return std::nullopt;
    if (EqualsIgnoreCase(words[i], "GROUP")) {
      claim = {words[i + 1], words[i + 2]};
      i += 2;
    } else {
      ++i;  // skips the value of COUNT or BLOCK
    }
  }
  return claim;
}

std::optional<Claim> ClaimOf(const LintRequest& request) {
  if (request.Is("xreadgroup")) return ClaimOfReading(request.words);
  if (!request.Is("xautoclaim") && !request.Is("xclaim")) return std::nullopt;
  return Claim{request.words[2], request.words[3]};
}

}  // namespace

void MessageCheck::CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) {
  if (request.place == Place::kQueued) return;
  if (request.Is("publish") || request.Is("spublish")) return CheckPublish(request, remarks);
  const bool pops = std::ranges::any_of(kPops, [&](Bytes name) { return request.Is(name); });
  // A pop in a script or a transaction is no problem, because other commands of the same script or transaction can
  // store the element elsewhere.
  if (!pops || request.place != Place::kSent || request.keys.IsEmpty()) return;
  const std::string key(request.words[request.keys[0].index]);
  remarks.push_back({.rule = LintRule::kLostMessage,
                     .why = "what is popped from " + QuotedForRemark(key) +
                            " is nowhere else: if the client ends before it is done, it is lost",
                     .key = key});
}

// Adds a remark about a PUBLISH to a channel that has no subscriber. Does nothing in a cluster, because other nodes may
// have subscribers.
void MessageCheck::CheckPublish(const LintRequest& request, LintRemarks& remarks) const {
  if (parts_.env.settings.cluster_enabled) return;
  const Bytes channel = request.words[1];
  const bool is_sharded = request.Is("spublish");
  const PubSubKind kind = is_sharded ? PubSubKind::kShardChannel : PubSubKind::kChannel;
  if (parts_.pubsub.SubscriberCount(kind, channel) != 0) return;
  const auto patterns = is_sharded ? std::vector<Bytes>() : parts_.pubsub.NamesMatching(PubSubKind::kPattern, nullptr);
  if (std::ranges::any_of(patterns, [&](Bytes pattern) { return Glob(pattern).Matches(channel); })) return;
  remarks.push_back({.rule = LintRule::kLostMessage,
                     .why = "nobody has subscribed to " + QuotedForRemark(channel) + ": the message is lost",
                     .key = std::string(channel)});
}

void MessageCheck::CheckAfterSuccess(const LintRequest& request, LintRemarks& /*remarks*/) {
  const auto claim = ClaimOf(request);
  if (!claim || std::max(claim->group.size(), claim->consumer.size()) > LintRequest::kMaxKeyBytes) return;
  ClearIfFull(readers_, kMaxConsumers);
  for (const KeyRef& key : request.keys) {
    readers_[{request.Key(key), std::string(claim->group), std::string(claim->consumer)}] = request.owner;
  }
}

uint64_t MessageCheck::PendingEntryCount(const Consumer& consumer) const {
  const Entry* const entry = FindUnexpired(parts_, consumer.stream);
  if (entry == nullptr || entry->Type() != ValueType::kStream) return 0;
  const auto& stream = static_cast<const StreamLog&>(*entry->ObjectValue());
  const StreamGroup* const group = stream.FindGroup(consumer.group);
  if (group == nullptr) return 0;
  const StreamConsumer* const found = group->FindConsumer(consumer.name);
  return found == nullptr ? 0 : found->pending.Size();
}

void MessageCheck::ReportGoneClients(LintRemarks& remarks) {
  std::erase_if(readers_, [&](const auto& row) {
    const auto& [consumer, client] = row;
    if (parts_.clients.Find(client->id) != nullptr) return false;
    const uint64_t pending = PendingEntryCount(consumer);
    if (pending != 0) {
      remarks.push_back(
          {.rule = LintRule::kLostMessage,
           .why = StrCat(NameForRemark(client), " has left ", pending, " entries of ",
                         QuotedForRemark(consumer.stream.key), " behind that consumer ", QuotedForRemark(consumer.name),
                         " of group ", QuotedForRemark(consumer.group), " has not acknowledged"),
           .key = consumer.stream.key,
           .client = client});
    }
    return true;
  });
}

}  // namespace respite
