// Lua's patterns with the rules of 5.1. A zero byte ends a pattern, %g is the letter g, and an empty match may directly
// follow another match.
#pragma once

#include <array>
#include <cstddef>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite::lua51 {

// Matches one pattern at positions of one subject; borrows the pattern and the subject. A malformed pattern raises a
// Lua error. A long match calls the hook of the script periodically, so that the script can be ended. Cost of a match:
// with n quantifiers, up to O(size^n).
class PatternMatcher {  // matches a Lua pattern (string.find, gsub …) in a text
 public:
  PatternMatcher(lua_State* lua, Bytes subject, Bytes pattern);

  // Stores the captures for PushCapture.
  const char* MatchAt(const char* start);  // matches from `start` on; returns the end of the match, or null

  // Capture 0 of a pattern without captures is the whole match.
  void PushCapture(int index, const char* start, const char* end);  // pushes capture `index`, counted from 0
  int PushCaptures(const char* start, const char* end);  // pushes all captures, or else the match; returns how many
  int PushOwnCaptures();  // pushes all captures; returns how many: 0 if the pattern has none

 private:
  static constexpr int kMaxCaptures = 32;                // maximum number of captures in a pattern; more are an error
  static constexpr int kMaxDepth = 1000;                 // maximum depth of recursion of Match; more is an error
  static constexpr size_t kWorkPerHookCall = 4'000'000;  // bytes of work until the hook is called: a few ms
  static constexpr size_t kWorkPerMatchCall = 16;        // what each call of Match adds to work_, in bytes of work
  static constexpr ptrdiff_t kUnfinished = -1;  // value of Capture::size until the `)` of the capture is reached
  static constexpr ptrdiff_t kPosition = -2;    // value of Capture::size for "()", which captures a position

  struct Capture {      // what one group in parentheses has matched
    const char* start;  // where in the text the capture begins
    ptrdiff_t size;     // length of the captured text, or kUnfinished or kPosition
  };

  const char* Match(const char* at, const char* item);  // matches the pattern from `item` on; returns the end, or null
  const char* MatchItems(const char* at, const char* item);   // the recursive part of Match, which limits its depth
  const char* MatchEscape(const char* at, const char* item);  // matches %b, %f or %1 to %9, then the rest
  const char* MatchQuantified(const char* at, const char* item, const char* item_end);  // item?, item*, item+ or item-
  const char* MatchGreedy(const char* at, const char* item, const char* item_end);      // item*: as often as possible
  const char* MatchLazy(const char* at, const char* item, const char* item_end);        // item-: as rarely as possible
  const char* MatchBalanced(const char* at, const char* item);                          // matches %b(), then the rest
  const char* MatchFrontier(const char* at, const char* item);                 // matches %f[set], then the rest
  const char* MatchBackReference(const char* at, const char* item);            // matches %1 to %9, then the rest
  const char* StartCapture(const char* at, const char* item, ptrdiff_t size);  // begins a capture, matches the rest
  const char* EndCapture(const char* at, const char* item);  // at `)`: ends the capture, then matches the rest

  char At(const char* place) const { return place < pattern_end_ ? *place : '\0'; }
  const char* FindItemEnd(const char* item);  // where the pattern's character, class or set at `item` ends
  const char* FindSetEnd(const char* set);    // where the pattern's [set] ends
  bool MatchesOne(const char* at, const char* item, const char* item_end);  // true: `item` matches the character `*at`
  void AddWork(size_t work) {  // counts bytes of work; calls the script's hook once per 4 million bytes
    work_ += work;
    if (work_ >= kWorkPerHookCall) CallScriptHook();
  }
  void CallScriptHook();  // calls the script's hook, which may raise an error to end the script
  bool IsInSet(unsigned char c, const char* set, const char* set_end) const;  // true: the pattern's [set] has `c`
  Capture& FinishedCapture(int index);  // capture number `index`; Lua error if it has not ended yet

  lua_State* lua_;                             // for errors and captures
  Bytes subject_;                              // the text in which the pattern is searched
  const char* pattern_;                        // where the pattern begins
  const char* pattern_end_;                    // where the pattern ends: also at its first zero byte
  int depth_ = 0;                              // current depth of recursion of Match
  int capture_count_ = 0;                      // number of captures begun so far
  size_t work_ = 0;                            // work since the last call of the hook
  std::array<Capture, kMaxCaptures> capture_;  // the captures so far
};

}  // namespace respite::lua51
