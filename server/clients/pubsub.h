// PubSub: subscriptions to channels, patterns and shard channels, and the delivery of messages.
//
// A channel or pattern exists while it has subscribers, which receive messages in order of subscription. A message is
// serialized once per protocol version into a SharedLog. The buffer of a receiver refers to the log, or copies a short
// message if that is cheaper. So a long message costs hardly more per receiver than a short one. A message is first
// delivered to all receivers; then client-output-buffer-limit closes slow ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/glob.h"
#include "base/hash.h"
#include "protocol/shared_log.h"
#include "server/clients/session.h"

namespace respite {

class ClientLimits;
class ClientMemory;
class Clients;
struct CurrentExecution;

// A list of pointers to items of type T in order of arrival. Add returns the place (index) of an item, with which
// Remove finds it in O(1).
//
// Removed places stay empty until more than half of the places are empty; then the other items move up.
template <class T>
class SubscriberList {  // a list of T* in order of arrival; removal costs O(1)
 public:
  // Appends the item, and returns its place.
  uint32_t Add(T& item) {
    places_.push_back(&item);
    return static_cast<uint32_t>(places_.size() - 1);
  }
  // Removes the item at this place. If that moves other items, calls `moved(T&, uint32_t new_place)` for each of them.
  // Cost: O(1) amortised.
  template <class Moved>
  void Remove(uint32_t place, Moved&& moved) {  // removes the item at this place
    places_[place] = nullptr;
    ++empty_place_count_;
    if (empty_place_count_ * 2 > places_.size() || empty_place_count_ == places_.size()) CloseGaps(moved);
  }
  size_t Count() const { return places_.size() - empty_place_count_; }  // number of items
  // Calls visit(T&) for each item. Cost: O(items). `visit` must not add or remove items.
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(T&) for each item
    for (T* item : places_)
      if (item != nullptr) visit(*item);
  }

 private:
  template <class Moved>
  void CloseGaps(Moved&& moved);  // moves items to the places of removed ones

  std::vector<T*> places_;        // the items; null: the item was removed
  size_t empty_place_count_ = 0;  // number of nulls in places_
};

struct PubSubChannel {  // a channel, pattern or shard channel with subscribers
  std::string name;
  PubSubKind kind;
  uint32_t place = 0;                     // a pattern's index in PubSub::patterns_
  SubscriberList<Session> subscribers{};  // the sessions that get its messages
  std::optional<Glob> glob{};             // for long patterns, which may be slow without it

  static constexpr size_t kLongPattern = 64;  // bytes; a longer pattern has a precompiled Glob
  bool MatchesChannel(Bytes channel) const {  // for patterns: whether the pattern matches `channel`
    return glob ? glob->Matches(channel) : GlobMatch(name, channel);
  }
};

class PubSub {  // subscriptions to channels and patterns, and the delivery of messages
 public:
  struct Parts {                                // the objects that PubSub uses; its constructor gets them
    Clients& clients;                           // all sessions
    ClientLimits& limits;                       // closes clients that exceed limits
    ClientMemory& client_memory;                // maxmemory-clients
    const CurrentExecution& current_execution;  // the command that runs now
  };
  PubSub(const Parts& parts, const HashKey& hash_key);
  PubSub(const PubSub&) = delete;
  PubSub& operator=(const PubSub&) = delete;

  void Subscribe(Session& session, PubSubKind kind, Bytes name);    // does nothing if already subscribed
  void Unsubscribe(Session& session, PubSubKind kind, Bytes name);  // does nothing if not subscribed

  // Sends the message to the subscribers of the channel and of each matching pattern. A session receives the message
  // once per subscription. Cost: O(subscribers + patterns).
  size_t Publish(Bytes channel, Bytes message);         // PUBLISH; returns the number of receivers
  size_t PublishToShard(Bytes channel, Bytes message);  // SPUBLISH; returns the number of receivers
  // A function that is called for each message to a shard channel, whether a client or another node of the cluster sent
  // it.
  using ShardMessageListener = std::function<void(Bytes channel, Bytes message, size_t receivers)>;
  void SetShardMessageListener(ShardMessageListener listener) {  // null: none
    shard_message_listener_ = std::move(listener);
  }
  bool HasSubscriptions() const {  // some client subscribes to a channel or pattern; shard channels do not count
    return TopicCount(PubSubKind::kChannel) + TopicCount(PubSubKind::kPattern) != 0;
  }

  size_t TopicCount(PubSubKind kind) const { return TopicsOf(kind).size(); }  // number of channels or patterns
  size_t SubscriberCount(PubSubKind kind, Bytes name) const;  // number of subscribers of one channel or pattern
  std::vector<Session*> Subscribers(PubSubKind kind, Bytes name) const;  // the subscribers of one channel or pattern
  std::vector<Bytes> NamesMatching(PubSubKind kind, const Bytes* pattern) const;  // `pattern` null: all names

 private:
  friend class Subscriptions;
  struct NameHash {  // hashes the name of a channel
    uint64_t operator()(Bytes name) const { return HashBytes(name, hash_key); }
    HashKey hash_key;  // secret seed of the hash
  };
  using Topics = std::unordered_map<Bytes, std::unique_ptr<PubSubChannel>, NameHash>;  // keys point into the topics
  // A message on its way to the subscribers. It is serialized for a protocol version when the first subscriber needs
  // that version.
  struct Message {                    // a message on its way to the subscribers
    std::span<const Bytes> pieces;    // the RESP text in pieces, without its first byte, `*` or `>`
    std::array<BlobPart, 2> parts{};  // the serialized message in logs_: for RESP2 and RESP3; empty: not yet
  };

  const Topics& TopicsOf(PubSubKind kind) const { return topics_[static_cast<size_t>(kind)]; }  // by name
  PubSubChannel* Find(PubSubKind kind, Bytes name) const;                                       // null: no subscribers
  PubSubChannel& FindOrAdd(PubSubKind kind, Bytes name);  // finds or creates the channel or pattern
  // Removes the subscriber at `place` from a channel or pattern. If it was the last one, also removes the channel or
  // pattern.
  void RemoveSubscriber(PubSubChannel& topic, uint32_t place);  // removes the subscriber at `place`
  // Sends a message to the subscribers of `topic`; null: no subscribers. `type` is the RESP text before the length of
  // the channel's name: the number of elements, and "message" or "smessage".
  size_t PublishToTopic(const PubSubChannel* topic, Bytes type, Bytes message);  // returns the number of receivers
  size_t PublishToPattern(const PubSubChannel& pattern, Bytes channel, Bytes message);  // number of receivers
  size_t Deliver(const PubSubChannel& topic, Message message);  // sends to its subscribers; returns their number
  void DeliverTo(Session& session, const BlobPart& part);       // appends the message to the session's output
  const BlobPart& SerializedPart(Message& message, RespVersion version);  // serializes it at the first call
  void CloseClientsOverOutputLimit();  // closes those of overfull_sessions_ that exceed their limit

  const Parts parts_;                            // the objects that the constructor got
  std::array<Topics, kTopicKinds> topics_;       // all channels and patterns with subscribers, by PubSubKind
  SubscriberList<PubSubChannel> patterns_;       // the subscribed patterns in order of their creation
  std::array<SharedLog, 2> logs_;                // serialized messages, for RESP2 and RESP3
  std::vector<Session*> overfull_sessions_;      // sessions with much unsent output, whose limits must be checked
  uint64_t last_subscription_number_ = 0;        // number of the youngest subscription, counted from 1
  ShardMessageListener shard_message_listener_;  // called for each message to a shard channel; may be null
};

template <class T>
template <class Moved>
void SubscriberList<T>::CloseGaps(Moved&& moved) {  // moves items to the places of removed ones
  size_t next = 0;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (places_[place] == nullptr) continue;
    if (next != place) moved(*places_[place], static_cast<uint32_t>(next));
    places_[next++] = places_[place];
  }
  places_.resize(next);
  if (places_.capacity() > 64 && places_.capacity() > 4 * next) places_.shrink_to_fit();
  empty_place_count_ = 0;
}

}  // namespace respite
