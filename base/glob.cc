#include "base/glob.h"

#include <algorithm>
#include <utility>

namespace respite {

namespace {

// Redis: ranges compare octets as signed chars, so [\x80-\x90] works but [a-\x80] is the range from \x80 up to a. Once
// their case is folded they compare unsigned, \xff alone staying at -1.
int AsSigned(char c) { return static_cast<signed char>(c); }
int AsFolded(char c) { return c == '\xff' ? -1 : static_cast<unsigned char>(LowerChar(c)); }

// One step of the pattern that consumes exactly one octet of the text.
struct Element {
  bool matches;
  size_t end;  // position of the next element in the pattern
};

class ElementMatcher {
 public:
  ElementMatcher(Bytes pattern, CaseMode mode) : pattern_(pattern), mode_(mode) {}

  // Requires: at < pattern.size(), and no star there.
  Element Match(size_t at, char c) const {
    switch (pattern_[at]) {
      case '?':
        return {true, at + 1};
      case '[':
        return MatchClass(at + 1, c);
      case '\\':
        if (at + 1 < pattern_.size()) at++;
        [[fallthrough]];
      default:
        return {Same(pattern_[at], c), at + 1};
    }
  }

 private:
  char Fold(char c) const { return mode_ == CaseMode::kIgnore ? LowerChar(c) : c; }
  int Rank(char c) const { return mode_ == CaseMode::kIgnore ? AsFolded(c) : AsSigned(c); }
  bool Same(char a, char b) const { return Fold(a) == Fold(b); }

  // `at` is just behind the bracket. Redis: a class without its closing bracket ends with the pattern.
  Element MatchClass(size_t at, char c) const {
    const bool negated = at < pattern_.size() && pattern_[at] == '^';
    if (negated) at++;
    bool found = false;
    while (at < pattern_.size() && pattern_[at] != ']') {
      const Element member = MatchMember(at, c);
      found = found || member.matches;
      at = member.end;
    }
    return {found != negated, std::min(at + 1, pattern_.size())};
  }

  Element MatchMember(size_t at, char c) const {
    const size_t left = pattern_.size() - at;
    // Redis: an escaped member is compared with its case even when case is ignored.
    if (pattern_[at] == '\\' && left >= 2) return {pattern_[at + 1] == c, at + 2};
    // Redis: in [a-] the bracket is the end of the range, not of the class.
    if (left >= 3 && pattern_[at + 1] == '-') return {InRange(pattern_[at], pattern_[at + 2], c), at + 3};
    return {Same(pattern_[at], c), at + 1};
  }

  // Redis: the ends are put in order before their case is folded, so [Z-a] matches nothing when case is ignored.
  bool InRange(char first, char last, char c) const {
    if (AsSigned(first) > AsSigned(last)) std::swap(first, last);
    return Rank(c) >= Rank(first) && Rank(c) <= Rank(last);
  }

  Bytes pattern_;
  CaseMode mode_;
};

size_t SkipStars(Bytes pattern, size_t at) {
  while (at < pattern.size() && pattern[at] == '*') at++;
  return at;
}

// Redis: deeper patterns count as abuse and match nothing.
constexpr int kMaxStars = 1000;

}  // namespace

// Only the last star ever needs to give ground: if the part behind it does not fit anywhere later in the text, giving
// an earlier star more text can only leave less for it.
bool GlobMatch(Bytes pattern, Bytes text, CaseMode mode) {
  // Redis: not even a star matches the empty text (KEYS * and SCAN MATCH * never ask).
  if (text.empty()) return pattern.empty();
  const ElementMatcher matcher(pattern, mode);
  size_t p = 0;
  size_t t = 0;
  size_t resume_p = Bytes::npos;  // behind the last star
  size_t resume_t = 0;            // first octet of text not yet given to it
  int stars = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      p = SkipStars(pattern, p);
      if (p == pattern.size()) return true;
      if (++stars > kMaxStars) return false;
      resume_p = p;
      resume_t = t;
      continue;
    }
    const Element element = p < pattern.size() ? matcher.Match(p, text[t]) : Element{false, p};
    if (element.matches) {
      p = element.end;
      t++;
    } else if (resume_p == Bytes::npos) {
      return false;
    } else {
      p = resume_p;
      t = ++resume_t;
    }
  }
  return SkipStars(pattern, p) == pattern.size();
}

}  // namespace respite
