// Lua's patterns with the rules of 5.1. A zero ends a pattern, %g is the letter g, and an empty match may directly
// follow another match.
#pragma once

#include <array>
#include <cstddef>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite::lua51 {

// Matches one pattern at positions of one subject. The matcher borrows both. A malformed pattern raises a Lua error. A
// long match calls the hook of the script periodically, so that the script can be ended. Cost of a match: with n
// quantifiers, up to O(size^n).
class PatternMatcher {
 public:
  PatternMatcher(lua_State* lua, Bytes subject, Bytes pattern);

  // Returns the end of the match that starts at `start`, or null. Sets the captures.
  const char* MatchAt(const char* start);

  // Pushes capture `index` (from 0). In a pattern without captures, capture 0 is the whole match.
  void PushCapture(int index, const char* start, const char* end);
  // Pushes all captures and returns their number.
  int PushCaptures(const char* start, const char* end);
  // Pushes all captures and returns their number; pushes nothing for a pattern without captures.
  int PushOwnCaptures();

 private:
  static constexpr int kMaxCaptures = 32;
  static constexpr int kMaxDepth = 1000;
  static constexpr size_t kWorkPerLook = 4'000'000;  // approximate bytes compared: a few ms
  static constexpr size_t kWorkOfStep = 16;
  static constexpr ptrdiff_t kUnfinished = -1;
  static constexpr ptrdiff_t kPosition = -2;

  struct Capture {
    const char* start;
    ptrdiff_t size;
  };

  const char* Match(const char* at, const char* item);
  const char* MatchItems(const char* at, const char* item);
  const char* MatchEscape(const char* at, const char* item);
  const char* MatchQuantified(const char* at, const char* item, const char* item_end);
  const char* MatchMost(const char* at, const char* item, const char* item_end);
  const char* MatchFewest(const char* at, const char* item, const char* item_end);
  const char* MatchBalanced(const char* at, const char* item);
  const char* MatchFrontier(const char* at, const char* item);
  const char* MatchBackReference(const char* at, const char* item);
  const char* StartCapture(const char* at, const char* item, ptrdiff_t size);
  const char* EndCapture(const char* at, const char* item);

  char At(const char* place) const { return place < pattern_end_ ? *place : '\0'; }
  const char* ItemEnd(const char* item);
  const char* SetEnd(const char* set);
  bool MatchesOne(const char* at, const char* item, const char* item_end);
  void Spend(size_t work) {
    work_ += work;
    if (work_ >= kWorkPerLook) LookUp();
  }
  void LookUp();
  bool IsInSet(unsigned char c, const char* set, const char* set_end) const;
  Capture& FinishedCapture(int index);

  lua_State* lua_;
  Bytes subject_;
  const char* pattern_;
  const char* pattern_end_;
  int depth_ = 0;
  int captures_ = 0;
  size_t work_ = 0;  // since the last call of the hook
  std::array<Capture, kMaxCaptures> capture_;
};

}  // namespace respite::lua51
