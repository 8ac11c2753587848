// PubSub: who subscribed to which channel, pattern or shard channel, and the messages on their way to them.
//
// A topic exists as long as it has subscribers; they get its messages in the order in which they subscribed. A message
// is written once for each version of the protocol into a SharedLog, to which the buffers of all receivers refer: a
// subscriber costs a few memory accesses, however long the message. Those that read too slowly are closed by
// client-output-buffer-limit after the message went to all.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/glob.h"
#include "base/hash.h"
#include "protocol/shared_log.h"
#include "server/clients/roster.h"
#include "server/clients/session.h"

namespace respite {

class ClientLimits;
class ClientMemory;
class Clients;
struct Running;

// A channel, pattern or shard channel that somebody subscribed to.
struct Topic {
  std::string name;
  TopicKind kind;
  uint32_t place = 0;  // of a pattern, among the patterns
  Roster<Session> subscribers{};
  std::optional<Glob> glob{};  // of a long pattern, which might be slow without

  static constexpr size_t kLongPattern = 64;
  bool IsFor(Bytes channel) const { return glob ? glob->Matches(channel) : GlobMatch(name, channel); }
};

class PubSub {
 public:
  struct Parts {
    Clients& clients;
    ClientLimits& limits;
    ClientMemory& client_memory;
    const Running& running;
  };
  PubSub(const Parts& parts, const HashKey& hash_key);
  PubSub(const PubSub&) = delete;
  PubSub& operator=(const PubSub&) = delete;

  // Nothing happens when it is so already. Cost: O(1).
  void Subscribe(Session& session, TopicKind kind, Bytes name);
  void Unsubscribe(Session& session, TopicKind kind, Bytes name);

  // How many got the message: the subscribers of the channel, then those of each pattern that fits. A session gets it
  // once for each of its subscriptions. Cost: O(subscribers + patterns); O(patterns) when nobody listens.
  size_t Publish(Bytes channel, Bytes message);
  size_t PublishToShard(Bytes channel, Bytes message);
  // Whether a message to any plain channel could have a receiver.
  bool HasListeners() const { return TopicCount(TopicKind::kChannel) + TopicCount(TopicKind::kPattern) != 0; }

  // Topics of one kind that have subscribers.
  size_t TopicCount(TopicKind kind) const { return TopicsOf(kind).size(); }
  size_t SubscriberCount(TopicKind kind, Bytes name) const;
  // Their names, those that match only (null: all), in no particular order.
  std::vector<Bytes> Names(TopicKind kind, const Bytes* pattern) const;

 private:
  friend class Subscriptions;
  struct NameHash {
    uint64_t operator()(Bytes name) const { return HashBytes(name, hash_key); }
    HashKey hash_key;
  };
  using Topics = std::unordered_map<Bytes, std::unique_ptr<Topic>, NameHash>;  // the keys are the topics' own names
  // One message, as it looks in each version of the protocol; written when the first receiver asks.
  struct Message {
    std::span<const Bytes> pieces;    // behind the `*` or `>`
    std::array<BlobPart, 2> parts{};  // in the logs
  };

  const Topics& TopicsOf(TopicKind kind) const { return topics_[static_cast<size_t>(kind)]; }
  Topic* Find(TopicKind kind, Bytes name) const;
  Topic& FindOrAdd(TopicKind kind, Bytes name);
  // The subscriber at `place` of the roster goes, and the topic with the last one.
  void Leave(Topic& topic, uint32_t place);
  // `head` is what a message on this kind of topic begins with.
  size_t PublishToTopic(const Topic* topic, Bytes head, Bytes message);
  size_t PublishToPattern(const Topic& pattern, Bytes channel, Bytes message);
  size_t Deliver(const Topic& topic, Message message);
  void DeliverTo(Session& session, const BlobPart& part);
  const BlobPart& PartOf(Message& message, RespVersion version);
  void CloseOverfull();

  const Parts parts_;
  std::array<Topics, kTopicKinds> topics_;
  Roster<Topic> patterns_;
  std::array<SharedLog, 2> logs_;   // RESP2, RESP3
  std::vector<Session*> overfull_;  // got a message and hold more than a block of output
  uint64_t subscriptions_made_ = 0;
};

}  // namespace respite
