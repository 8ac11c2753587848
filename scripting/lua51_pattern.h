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
class PatternMatcher {  // matches one Lua pattern at positions of one subject
 public:
  PatternMatcher(lua_State* lua, Bytes subject, Bytes pattern);

  // Returns the end of the match that starts at `start`, or null. Stores the captures for PushCapture.
  const char* MatchAt(const char* start);  // returns the end of the match, or null: none

  // Pushes the capture with this index, counted from 0. In a pattern without captures, capture 0 is the whole match.
  void PushCapture(int index, const char* start, const char* end);  // pushes the capture `index`, counted from 0
  int PushCaptures(const char* start, const char* end);  // pushes all captures, or the whole match; returns how many
  int PushOwnCaptures();                                 // pushes all captures; returns how many, which may be 0

 private:
  static constexpr int kMaxCaptures = 32;                // more captures in a pattern are an error
  static constexpr int kMaxDepth = 1000;                 // maximum depth of Match's recursion
  static constexpr size_t kWorkPerHookCall = 4'000'000;  // bytes compared between two hook calls: a few ms
  static constexpr size_t kWorkPerMatchCall = 16;        // each call of Match counts as this many bytes of work
  static constexpr ptrdiff_t kUnfinished = -1;           // Capture::size until its `)` is reached
  static constexpr ptrdiff_t kPosition = -2;             // Capture::size of "()", which captures a position

  struct Capture {      // what one bracketed part of the pattern has matched
    const char* start;  // where the captured text begins in the subject
    ptrdiff_t size;     // its length, or kUnfinished or kPosition
  };

  const char* Match(const char* at, const char* item);  // matches the pattern from `item` on; returns the end or null
  const char* MatchItems(const char* at, const char* item);   // does the work of Match, one level deeper
  const char* MatchEscape(const char* at, const char* item);  // %b, %f, or a back reference %1 to %9
  const char* MatchQuantified(const char* at, const char* item, const char* item_end);  // an item before ? * + or -
  const char* MatchGreedy(const char* at, const char* item, const char* item_end);      // `*`: as often as possible
  const char* MatchLazy(const char* at, const char* item, const char* item_end);        // `-`: as rarely as possible
  const char* MatchBalanced(const char* at, const char* item);                          // %b(): returns the end or null
  const char* MatchFrontier(const char* at, const char* item);                 // %f[set]: returns the end or null
  const char* MatchBackReference(const char* at, const char* item);            // %1 to %9: returns the end or null
  const char* StartCapture(const char* at, const char* item, ptrdiff_t size);  // `(`; `size`: kUnfinished or kPosition
  const char* EndCapture(const char* at, const char* item);  // `)`: ends the last open capture, then matches on

  char At(const char* place) const { return place < pattern_end_ ? *place : '\0'; }
  const char* FindItemEnd(const char* item);  // the end of the class, set or character at `item`
  const char* FindSetEnd(const char* set);    // the end of the [set] in the pattern
  bool MatchesOne(const char* at, const char* item, const char* item_end);  // true: the character at `at` matches
  void AddWork(size_t work) {  // counts bytes of work, and calls the script's hook after every 4 million
    work_ += work;
    if (work_ >= kWorkPerHookCall) CallScriptHook();
  }
  void CallScriptHook();  // calls the script's hook, which may end the script
  bool IsInSet(unsigned char c, const char* set, const char* set_end) const;  // true: `c` is in the [set]
  Capture& FinishedCapture(int index);  // the capture `index`; raises an error if it is unfinished

  lua_State* lua_;                             // for errors and captures
  Bytes subject_;                              // the text to search
  const char* pattern_;                        // the start of the pattern
  const char* pattern_end_;                    // the end of the pattern, or its first zero byte
  int depth_ = 0;                              // depth of Match's recursion
  int capture_count_ = 0;                      // number of valid elements of capture_
  size_t work_ = 0;                            // work since the last call of the hook
  std::array<Capture, kMaxCaptures> capture_;  // the captures of the match so far
};

}  // namespace respite::lua51
