// PubSub: subscriptions to channels, patterns and shard channels, and the delivery of messages.
//
// A channel or pattern exists while it has subscribers, which receive messages in order of subscription. A message is
// serialized once per protocol version into a SharedLog. The output buffer of a receiver refers to the SharedLog, or
// copies a short message if copying is cheaper. So a long message costs hardly more per receiver than a short one. A
// message is first delivered to all receivers; then client-output-buffer-limit closes slow ones.
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
// The place of a removed item stays empty until more than half of all places are empty. Then the items move up.
template <class T>
class SubscriberList {  // pointers to T in order of arrival; finds and removes them in O(1)
 public:
  uint32_t Add(T& item) {  // appends the item; returns its place for Remove
    places_.push_back(&item);
    return static_cast<uint32_t>(places_.size() - 1);
  }
  // Removes the item at this place. If that moves other items, calls `moved(T&, uint32_t new_place)` for each of them.
  // Cost: O(1) amortised.
  template <class Moved>
  void Remove(uint32_t place, Moved&& moved) {  // removes the item; calls moved(T&, place) for others that move
    places_[place] = nullptr;
    ++empty_place_count_;
    if (empty_place_count_ * 2 > places_.size() || empty_place_count_ == places_.size()) CloseGaps(moved);
  }
  size_t Count() const { return places_.size() - empty_place_count_; }  // number of items
  // Calls visit(T&) for each item. Cost: O(items). `visit` must not add or remove items.
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(T&) for each item in order
    for (T* item : places_)
      if (item != nullptr) visit(*item);
  }

 private:
  template <class Moved>
  void CloseGaps(Moved&& moved);  // removes empty places; calls moved(T&, new place) for each moved item

  std::vector<T*> places_;        // the items in order; null: an item that was removed
  size_t empty_place_count_ = 0;  // number of nulls in places_
};

struct PubSubTopic {                      // a channel, pattern or shard channel that has subscribers
  std::string name;                       // name of the channel, or the pattern
  PubSubKind kind;                        // a channel, a pattern or a shard channel
  uint32_t place = 0;                     // index of a pattern in PubSub::patterns_
  SubscriberList<Session> subscribers{};  // the sessions that get its messages, in order of subscription
  std::optional<Glob> glob{};             // the pattern in a form that matches faster; only for long patterns

  static constexpr size_t kLongPattern = 64;  // patterns of more bytes than this have a `glob`
  bool MatchesChannel(Bytes channel) const {  // true: this pattern matches `channel`
    return glob ? glob->Matches(channel) : GlobMatch(name, channel);
  }
};

class PubSub {  // all channels, patterns and their subscribers; delivers messages
 public:
  struct Parts {                                // the objects that PubSub uses; its constructor gets them
    Clients& clients;                           // the sessions of all clients
    ClientLimits& limits;                       // closes clients whose output exceeds the limit
    ClientMemory& client_memory;                // measures and limits clients' memory
    const CurrentExecution& current_execution;  // the command that runs now
  };
  PubSub(const Parts& parts, const HashKey& hash_key);
  PubSub(const PubSub&) = delete;
  PubSub& operator=(const PubSub&) = delete;

  void Subscribe(Session& session, PubSubKind kind, Bytes name);    // subscribes, unless already subscribed
  void Unsubscribe(Session& session, PubSubKind kind, Bytes name);  // ends the subscription, if there is one

  // Sends the message to the subscribers of the channel and of each matching pattern. A session receives the message
  // once per subscription. Cost: O(subscribers + patterns).
  size_t Publish(Bytes channel, Bytes message);         // PUBLISH; returns how many subscriptions got the message
  size_t PublishToShard(Bytes channel, Bytes message);  // SPUBLISH; returns the number of receivers
  // A function that is called for each message to a shard channel, whether a client or another node of the cluster sent
  // it.
  using ShardMessageListener = std::function<void(Bytes channel, Bytes message, size_t receivers)>;
  void SetShardMessageListener(ShardMessageListener listener) {  // called for shard messages; null: none
    shard_message_listener_ = std::move(listener);
  }
  bool HasSubscriptions() const {  // true: some channel or pattern, not only shard channels, has subscribers
    return TopicCount(PubSubKind::kChannel) + TopicCount(PubSubKind::kPattern) != 0;
  }

  size_t TopicCount(PubSubKind kind) const { return TopicsOf(kind).size(); }  // channels of this kind with subscribers
  size_t SubscriberCount(PubSubKind kind, Bytes name) const;                  // number of sessions subscribed to `name`
  std::vector<Session*> Subscribers(PubSubKind kind, Bytes name) const;       // the sessions subscribed to `name`
  std::vector<Bytes> NamesMatching(PubSubKind kind, const Bytes* pattern) const;  // pattern null: all names

 private:
  friend class Subscriptions;
  struct NameHash {  // hash function of a channel's name
    uint64_t operator()(Bytes name) const { return HashBytes(name, hash_key); }
    HashKey hash_key;  // secret seed of the hash function
  };
  using Topics = std::unordered_map<Bytes, std::unique_ptr<PubSubTopic>, NameHash>;  // keys point into the topics
  // A message on its way to the subscribers. Its RESP text for a protocol version is made when the first subscriber
  // needs that version.
  struct Message {                  // a message that is being delivered
    std::span<const Bytes> pieces;  // the message's RESP text in pieces, without the first byte, `*` or `>`
    std::array<BlobPart, 2>
        serialized{};  // the whole RESP text in logs_: [0] for RESP2, [1] for RESP3; empty until needed
  };

  const Topics& TopicsOf(PubSubKind kind) const {  // all channels or patterns of this kind, by name
    return topics_[static_cast<size_t>(kind)];
  }
  PubSubTopic* Find(PubSubKind kind, Bytes name) const;  // the channel or pattern `name`; null: it has no subscribers
  PubSubTopic& FindOrAdd(PubSubKind kind, Bytes name);   // finds the channel or pattern, or creates it
  // Removes the subscriber at `place` from a channel or pattern. If no subscriber is left, also removes the channel or
  // pattern.
  void RemoveSubscriber(PubSubTopic& topic, uint32_t place);  // removes the subscriber with the index `place`
  // Sends a message to the subscribers of a channel or shard channel. `head` is the RESP text between the first byte
  // (* or >) and the length of the channel's name, such as "3\r\n$7\r\nmessage\r\n$".
  size_t PublishToChannel(const PubSubTopic* channel,  // sends to the subscribers (null: none); returns how many
                          Bytes head, Bytes message);
  size_t PublishToPattern(const PubSubTopic& pattern,  // sends to the pattern's subscribers; returns how many
                          Bytes channel, Bytes message);
  size_t Deliver(const PubSubTopic& topic, Message message);  // sends it to the topic's subscribers; returns how many
  void DeliverTo(Session& session, const BlobPart& part);     // appends the message to the session's output
  void DeferPush(Session& session, Bytes message);            // keeps the message until the session's command ends
  const BlobPart& SerializedPart(Message& message, RespVersion version);  // the message in RESP, made at the first call
  void CloseClientsOverOutputLimit();  // closes the clients of overfull_sessions_ that exceed their limit

  const Parts parts_;                        // the objects that the constructor got
  std::array<Topics, kTopicKinds> topics_;   // all channels, patterns and shard channels by name, for each kind
  SubscriberList<PubSubTopic> patterns_;     // all patterns in order of creation, to match each message with
  std::array<SharedLog, 2> logs_;            // stores the text of messages until all receivers have it: RESP2, RESP3
  std::vector<Session*> overfull_sessions_;  // sessions that got much output, and may exceed their limit
  uint64_t last_subscription_number_ = 0;    // number of the latest subscription; the first one has number 1
  ShardMessageListener shard_message_listener_;  // called for each message to a shard channel; may be null
};

template <class T>
template <class Moved>
void SubscriberList<T>::CloseGaps(Moved&& moved) {  // removes empty places; calls moved(T&, new place)
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
