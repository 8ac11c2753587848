#include "server/clients/pubsub.h"

#include <algorithm>
#include <utility>

#include "base/glob.h"
#include "base/memory.h"
#include "base/number_text.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"

namespace respite {

namespace {

constexpr size_t IndexOf(RespVersion version) { return version == RespVersion::kResp3 ? 1 : 0; }

int64_t LengthOf(Bytes text) { return static_cast<int64_t>(text.size()); }

}  // namespace

Subscriptions::~Subscriptions() { UnsubscribeSome(TotalCount()); }

void Subscriptions::UnsubscribeSome(size_t count) {
  for (; count > 0 && !places_.empty(); --count) {
    const auto [topic, place] = *places_.begin();
    places_.erase(places_.begin());
    --counts_[static_cast<size_t>(topic->kind)];
    pubsub_.RemoveSubscriber(*topic, place.in_list);
  }
}

std::vector<PubSubTopic*> Subscriptions::ChannelsOfKind(PubSubKind kind, size_t max_count) const {
  std::vector<std::pair<uint64_t, PubSubTopic*>> found;
  for (auto at = places_.begin(); at != places_.end() && found.size() < max_count; ++at)
    if (at->first->kind == kind) found.emplace_back(at->second.since, at->first);
  std::sort(found.begin(), found.end());
  std::vector<PubSubTopic*> topics;
  topics.reserve(found.size());
  for (const auto& [since, topic] : found) topics.push_back(topic);
  return topics;
}

size_t Subscriptions::UsedBytes() const {
  constexpr size_t kNodeBytes = sizeof(std::pair<PubSubTopic*, Place>) + 2 * sizeof(void*);
  return sizeof *this + places_.size() * kNodeBytes + places_.bucket_count() * sizeof(void*);
}

PubSub::PubSub(const Parts& parts, const HashKey& hash_key)
    : parts_(parts),
      topics_{Topics(0, NameHash{hash_key}), Topics(0, NameHash{hash_key}), Topics(0, NameHash{hash_key})} {}

PubSubTopic* PubSub::Find(PubSubKind kind, Bytes name) const {
  const Topics& topics = TopicsOf(kind);
  if (topics.empty()) return nullptr;
  auto found = topics.find(name);
  return found == topics.end() ? nullptr : found->second.get();
}

PubSubTopic& PubSub::FindOrAdd(PubSubKind kind, Bytes name) {
  if (PubSubTopic* found = Find(kind, name)) return *found;
  auto topic = std::make_unique<PubSubTopic>(PubSubTopic{.name = std::string(name), .kind = kind});
  PubSubTopic& added = *topic;
  if (kind == PubSubKind::kPattern) {
    added.place = patterns_.Add(added);
    if (name.size() > PubSubTopic::kLongPattern) added.glob.emplace(name);
  }
  topics_[static_cast<size_t>(kind)].emplace(added.name, std::move(topic));
  return added;
}

void PubSub::Subscribe(Session& session, PubSubKind kind, Bytes name) {
  if (!session.subscriptions) session.subscriptions = std::make_unique<Subscriptions>(*this);
  Subscriptions& own = *session.subscriptions;
  PubSubTopic& topic = FindOrAdd(kind, name);
  auto [place, is_new] = own.places_.try_emplace(&topic);
  if (is_new) {
    place->second = {topic.subscribers.Add(session), ++last_subscription_number_};
    ++own.counts_[static_cast<size_t>(kind)];
  }
  if (session.kind == SessionKind::kNormal) session.kind = SessionKind::kPubSub;
}

void PubSub::Unsubscribe(Session& session, PubSubKind kind, Bytes name) {
  PubSubTopic* topic = session.subscriptions ? Find(kind, name) : nullptr;
  if (topic == nullptr) return;
  Subscriptions& own = *session.subscriptions;
  auto place = own.places_.find(topic);
  if (place == own.places_.end()) return;
  const uint32_t in_list = place->second.in_list;
  own.places_.erase(place);
  --own.counts_[static_cast<size_t>(kind)];
  RemoveSubscriber(*topic, in_list);
  if (own.places_.empty()) DropAllSubscriptions(session);
}

std::vector<Session*> PubSub::Subscribers(PubSubKind kind, Bytes name) const {
  std::vector<Session*> sessions;
  if (const PubSubTopic* topic = Find(kind, name))
    topic->subscribers.ForEach([&](Session& one) { sessions.push_back(&one); });
  return sessions;
}

void PubSub::RemoveSubscriber(PubSubTopic& topic, uint32_t place) {
  topic.subscribers.Remove(place, [&topic](Session& other, uint32_t new_place) {
    other.subscriptions->places_[&topic].in_list = new_place;
  });
  if (topic.subscribers.Count() != 0) return;
  if (topic.kind == PubSubKind::kPattern) {
    patterns_.Remove(topic.place, [](PubSubTopic& other, uint32_t new_place) { other.place = new_place; });
  }
  auto& topics = topics_[static_cast<size_t>(topic.kind)];
  topics.erase(topics.find(topic.name));
  ShrinkSparse(topics);
}

size_t PubSub::SubscriberCount(PubSubKind kind, Bytes name) const {
  const PubSubTopic* topic = Find(kind, name);
  return topic == nullptr ? 0 : topic->subscribers.Count();
}

std::vector<Bytes> PubSub::NamesMatching(PubSubKind kind, const Bytes* pattern) const {
  std::vector<Bytes> names;
  const Glob glob(pattern == nullptr ? Bytes() : *pattern);
  for (const auto& [name, topic] : TopicsOf(kind))
    if (pattern == nullptr || glob.Matches(name)) names.push_back(name);
  return names;
}

size_t PubSub::Publish(Bytes channel, Bytes message) {
  size_t receivers = PublishToChannel(Find(PubSubKind::kChannel, channel), "3\r\n$7\r\nmessage\r\n$", message);
  patterns_.ForEach([&](const PubSubTopic& pattern) {
    if (pattern.MatchesChannel(channel)) receivers += PublishToPattern(pattern, channel, message);
  });
  if (!overfull_sessions_.empty()) CloseClientsOverOutputLimit();
  return receivers;
}

size_t PubSub::PublishToShard(Bytes channel, Bytes message) {
  size_t receivers = PublishToChannel(Find(PubSubKind::kShardChannel, channel), "3\r\n$8\r\nsmessage\r\n$", message);
  if (shard_message_listener_) shard_message_listener_(channel, message, receivers);
  if (!overfull_sessions_.empty()) CloseClientsOverOutputLimit();
  return receivers;
}

size_t PubSub::PublishToChannel(const PubSubTopic* channel, Bytes head, Bytes message) {
  if (channel == nullptr) return 0;
  const IntegerText name_length(LengthOf(channel->name));
  const IntegerText message_length(LengthOf(message));
  const Bytes pieces[] = {head, name_length, "\r\n", channel->name, "\r\n$", message_length, "\r\n", message, "\r\n"};
  return Deliver(*channel, {.pieces = pieces});
}

size_t PubSub::PublishToPattern(const PubSubTopic& pattern, Bytes channel, Bytes message) {
  const IntegerText pattern_length(LengthOf(pattern.name));
  const IntegerText channel_length(LengthOf(channel));
  const IntegerText message_length(LengthOf(message));
  const Bytes pieces[] = {"4\r\n$8\r\npmessage\r\n$",
                          pattern_length,
                          "\r\n",
                          pattern.name,
                          "\r\n$",
                          channel_length,
                          "\r\n",
                          channel,
                          "\r\n$",
                          message_length,
                          "\r\n",
                          message,
                          "\r\n"};
  return Deliver(pattern, {.pieces = pieces});
}

size_t PubSub::Deliver(const PubSubTopic& topic, Message message) {
  parts_.clients.CountMessage();
  topic.subscribers.ForEach([&](Session& session) {
    if (parts_.current_execution.DefersPushes(session)) {
      DeferPush(session, SerializedPart(message, session.resp).View());
    } else {
      DeliverTo(session, SerializedPart(message, session.resp));
    }
  });
  return topic.subscribers.Count();
}

// Keeps the message until the session's running command ends. Kept messages count for the output limit too, because a
// script or EXEC may publish any number of messages to its own client.
void PubSub::DeferPush(Session& session, Bytes message) {
  if (session.closing) return;
  session.deferred_pushes.append(message);
  if (session.deferred_pushes.size() > Session::kUncountedOutputBytes) overfull_sessions_.push_back(&session);
}

void PubSub::DeliverTo(Session& session, const BlobPart& part) {
  // Queues the session for flushing if the session has no output yet. A session with output is already queued, or waits
  // for its socket.
  if (session.out.IsEmpty()) parts_.clients.QueueMessages(session);
  session.out.AppendPart(part);
  if (session.out.HeldBytes() > Session::kUncountedOutputBytes) overfull_sessions_.push_back(&session);
}

const BlobPart& PubSub::SerializedPart(Message& message, RespVersion version) {
  BlobPart& part = message.serialized[IndexOf(version)];
  if (!part.blob) part = logs_[IndexOf(version)].Append(version == RespVersion::kResp3 ? ">" : "*", message.pieces);
  return part;
}

void PubSub::CloseClientsOverOutputLimit() {
  const int64_t now_ms = parts_.current_execution.NowMs();
  for (Session* session : std::exchange(overfull_sessions_, {})) {
    parts_.limits.EnforceOutputLimit(*session, now_ms);
    if (parts_.client_memory.IsOn()) parts_.client_memory.Remeasure(*session);  // no flush measures it now
  }
}

}  // namespace respite
