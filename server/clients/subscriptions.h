// Subscriptions: what one session subscribed to. A session has none of these until its first SUBSCRIBE.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"

namespace respite {

class PubSub;
struct Topic;

enum class TopicKind : uint8_t { kChannel, kPattern, kShardChannel };
inline constexpr size_t kTopicKinds = 3;

class Subscriptions {
 public:
  explicit Subscriptions(PubSub& pubsub) : pubsub_(pubsub) {}
  // Leaves every topic.
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  size_t Count(TopicKind kind) const { return counts_[static_cast<size_t>(kind)]; }
  size_t Total() const { return places_.size(); }
  // Leaves up to so many topics.
  void LeaveSome(size_t count);
  // Those of one kind, in the order in which they were made; if there are more than `most`, any so many of them.
  std::vector<Topic*> OfKind(TopicKind kind, size_t most = SIZE_MAX) const;
  size_t UsedBytes() const;

 private:
  friend class PubSub;
  struct Place {
    uint32_t in_roster;
    uint64_t since;  // a number that grows with each subscription
  };

  PubSub& pubsub_;
  std::unordered_map<Topic*, Place> places_;
  std::array<uint32_t, kTopicKinds> counts_{};
};

}  // namespace respite
