// Redis' glob patterns, as KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL use them.
//
//   *       any octets, also none          ?       any one octet
//   [abc]   one of these                   [^abc]  none of these
//   [a-z]   a range, in either order       \c      the octet c, without its special meaning (also inside [])
//
// The text is matched whole. Oddities kept from Redis are marked in glob.cc.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

enum class CaseMode : uint8_t { kSensitive, kIgnore };

// Cost: O(|pattern| * |text|) at worst whatever the number of stars, no recursion, no allocation.
bool GlobMatch(Bytes pattern, Bytes text, CaseMode mode = CaseMode::kSensitive);

// A pattern for many texts, or of somebody who may mean harm: sets cost the same whatever their length, and long texts
// of plain octets between stars are found in linear time. Cost of making one: O(|pattern|).
class Glob {
 public:
  explicit Glob(Bytes pattern, CaseMode mode = CaseMode::kSensitive);

  // As GlobMatch; but sets and question marks that would have to be tried at millions of places count as abuse and
  // match nothing. Cost: O(|pattern| + |text|) for plain octets and stars, else O(|part between stars| * |text|) at
  // worst.
  bool Matches(Bytes text) const;

 private:
  friend class GlobReader;
  using Set = std::bitset<256>;
  // What consumes one octet: that octet (in lower case when case is ignored), any, or one of a set.
  using Element = uint32_t;
  static constexpr Element kAny = 256;
  static constexpr Element kFirstSet = 257;
  // What stands between two stars.
  struct Part {
    size_t first;  // of elements_
    size_t size = 0;
    bool is_plain = true;
  };
  class Search;

  Part& OpenPart();
  void Add(Element element);
  bool Accepts(Element element, char c) const;

  CaseMode mode_;
  std::vector<Element> elements_;
  std::string plain_;  // the octets of elements_, for parts that are plain
  std::vector<Set> sets_;
  std::vector<Part> parts_;
  bool begins_with_star_ = false;
  bool ends_with_star_ = false;
};

}  // namespace respite
