// MidTurn: whether somebody is in the middle of something that takes so long (a late script, loading) that others are
// served besides. Timers, waits and evictions stand still meanwhile: only who is in the middle may change data.
#pragma once

namespace respite {

struct Session;

class MidTurn {
 public:
  // `holder` (null: nobody) is the client whose command it is: nothing of it is read until End.
  void Begin(const Session* holder) {
    if (depth_++ < kDeepest) holders_[depth_ - 1] = holder;
  }
  void End() { --depth_; }

  bool Is() const { return depth_ != 0; }
  bool Holds(const Session& session) const {
    for (int i = 0; i < depth_ && i < kDeepest; ++i)
      if (holders_[i] == &session) return true;
    return false;
  }

 private:
  static constexpr int kDeepest = 2;  // a script of the file that is loaded
  int depth_ = 0;
  const Session* holders_[kDeepest] = {};
};

}  // namespace respite
