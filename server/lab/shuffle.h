// Shuffle: TEST SHUFFLE. Shuffles the elements of replies whose order Redis does not specify. So a test finds code that
// relies on the internal order of sets and hashes.
#pragma once

#include <cstdint>
#include <span>

#include "base/late_bound.h"
#include "base/random.h"
#include "server/execution/reply_editor.h"

namespace respite {

class Shuffle final : public ReplyEditor {  // TEST SHUFFLE: shuffles replies without a specified order
 public:
  Shuffle(LateBound<ReplyEditor>& reply_editor, uint64_t seed) : reply_editor_(reply_editor), random_(seed) {}
  ~Shuffle() override = default;
  Shuffle(const Shuffle&) = delete;
  Shuffle& operator=(const Shuffle&) = delete;

  bool IsOn() const { return reply_editor_ && &*reply_editor_ == this; }
  void TurnOn() { reply_editor_.Attach(this); }  // begins to shuffle replies
  void TurnOff() { reply_editor_.Detach(); }     // stops shuffling
  // Sets the seed of the random orders. After the same seed, the same sequence of requests gets the same orders.
  void Seed(uint64_t seed) { random_ = Random(seed); }

  // Shuffles the elements of the reply if their order is not specified for this command. Cost: O(bytes of the reply) if
  // so, otherwise O(1).
  void Edit(const Command& command, std::span<const Bytes> words, Session& session, size_t reply_start) override;

 private:
  LateBound<ReplyEditor>& reply_editor_;  // where this object attaches itself while shuffling is on
  Random random_;                         // random numbers for the shuffled orders
};

}  // namespace respite
