// Subscriptions: the subscriptions of one session. Created by its first subscribe command.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"

namespace respite {

class PubSub;
struct PubSubChannel;

enum class PubSubKind : uint8_t { kChannel, kPattern, kShardChannel };
inline constexpr size_t kTopicKinds = 3;

class Subscriptions {
 public:
  explicit Subscriptions(PubSub& pubsub) : pubsub_(pubsub) {}
  // Unsubscribes from every channel and pattern.
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  size_t Count(PubSubKind kind) const { return counts_[static_cast<size_t>(kind)]; }
  size_t Total() const { return places_.size(); }
  // Unsubscribes from up to `count` channels and patterns.
  void LeaveSome(size_t count);
  // Returns the channels of one kind in order of subscription; if there are more than `most`, any `most` of them.
  std::vector<PubSubChannel*> OfKind(PubSubKind kind, size_t most = SIZE_MAX) const;
  size_t UsedBytes() const;

 private:
  friend class PubSub;
  struct Place {
    uint32_t in_list;
    uint64_t since;  // a sequence number
  };

  PubSub& pubsub_;
  std::unordered_map<PubSubChannel*, Place> places_;
  std::array<uint32_t, kTopicKinds> counts_{};
};

}  // namespace respite
