// Shuffle: TEST SHUFFLE. Whatever has no promised order comes in another order each time, so that a test finds code
// that relies on the order in which sets and hashes happen to lie.
#pragma once

#include <cstdint>
#include <span>

#include "base/late_bound.h"
#include "base/random.h"
#include "server/execution/reply_editor.h"

namespace respite {

class Shuffle final : public ReplyEditor {
 public:
  Shuffle(LateBound<ReplyEditor>& port, uint64_t seed) : port_(port), random_(seed) {}
  ~Shuffle() override = default;
  Shuffle(const Shuffle&) = delete;
  Shuffle& operator=(const Shuffle&) = delete;

  bool IsOn() const { return port_ && &*port_ == this; }
  void TurnOn() { port_.Attach(this); }
  void TurnOff() { port_.Detach(); }
  // The same orders for the same seed and requests.
  void Seed(uint64_t seed) { random_ = Random(seed); }

  // Cost: O(bytes of the reply) for the commands that it is about.
  void Edit(const Command& command, std::span<const Bytes> words, Session& session, size_t reply_start) override;

 private:
  LateBound<ReplyEditor>& port_;
  Random random_;
};

}  // namespace respite
