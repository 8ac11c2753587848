// Redis' glob patterns, as KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL use them.
//
//   *       any bytes, or none             ?       any one byte
//   [abc]   one of these                   [^abc]  none of these
//   [a-z]   a range, in either order       \c      the byte c without its special meaning (also inside [])
//
// The pattern must match the whole text. Oddities that we share with Redis are marked in glob.cc.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

// Backslashes do not count: the function returns false for "a\b".
bool HasGlobCharacter(Bytes text);  // true if the text contains *, ? or [

enum class CaseMode : uint8_t { kSensitive, kIgnore };

// Cost: at worst O(|pattern| * |text|). No recursion, no allocation.
bool GlobMatch(Bytes pattern, Bytes text,  // true: the pattern matches the whole text
               CaseMode mode = CaseMode::kSensitive);

// Use a Glob to match many texts, or for patterns of untrusted clients. The cost of matching a set such as [abc] does
// not depend on its length. A case-sensitive Glob searches the plain bytes between stars with memmem, in linear time.
// Cost of construction: O(|pattern|).
class Glob {  // a glob pattern, compiled for matching many texts
 public:
  explicit Glob(Bytes pattern, CaseMode mode = CaseMode::kSensitive);

  // Returns the result of GlobMatch, with one exception: a search of more than 16 million comparisons counts as abuse,
  // and returns false. (A case-sensitive search for plain bytes between stars does not count.) Cost: for plain bytes
  // and stars, O(|pattern| + |text|) if case-sensitive; otherwise at worst O(|part between stars| * |text|).
  bool Matches(Bytes text) const;  // true: the pattern matches; false also above 16 million steps or 1000 stars

 private:
  friend class GlobReader;
  using Set = std::bitset<256>;
  // An element of a pattern matches one byte: a literal (in lower case if case is ignored), any byte, or a member of a
  // set.
  using Element = uint32_t;
  static constexpr Element kAny = 256;
  static constexpr Element kFirstSet = 257;  // an element e >= kFirstSet is the set sets_[e - kFirstSet]
  struct Part {                              // the elements between two stars or ends of the pattern
    size_t first;                            // index in elements_ of the first element of the part
    size_t size = 0;
    bool is_plain = true;  // true: the part consists of literal bytes, without ? and sets
  };
  class Search;

  Part& OpenPart();  // the last part, to which Add appends elements; makes the first part if there is none
  void Add(Element element);
  bool Accepts(Element element, char c) const;  // true if this element matches the byte `c`

  CaseMode mode_;
  std::vector<Element> elements_;  // the elements of all parts, one after the other
  std::string literal_bytes_;      // the literals of elements_ as bytes, for memmem; a filler for each other element
  std::vector<Set> sets_;
  std::vector<Part> parts_;        // the pieces of the pattern between its stars and ends
  bool begins_with_star_ = false;  // true: the pattern begins with a star
  bool ends_with_star_ = false;    // true: the pattern ends with a star
};

}  // namespace respite
