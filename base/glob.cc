#include "base/glob.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace respite {

namespace {

// AsSigned and AsFolded give the order of bytes in ranges such as [a-z]. AsSigned: bytes are signed, as in Redis, so
// [\x80-\x90] works, but [a-\x80] is the range from \x80 up to a. AsFolded, if case is ignored: bytes are unsigned and
// in lower case, except \xff, which is -1.
int AsSigned(char c) { return static_cast<signed char>(c); }
int AsFolded(char c) { return c == '\xff' ? -1 : static_cast<unsigned char>(LowerChar(c)); }

// The result of comparing one element of the pattern, such as a literal, ? or [a-z], with one byte of the text.
struct Element {
  bool matches;
  size_t end;  // where the next element begins in the pattern
};

class ElementMatcher {
 public:
  ElementMatcher(Bytes pattern, CaseMode mode) : pattern_(pattern), mode_(mode) {}

  // Returns whether the element at position `at` of the pattern matches the byte `c`, and where the next element
  // begins. Requires: at < pattern.size(), and the element is not a star.
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
  // Returns true if `c` is in the range from `first` to `last`. As in Redis, the bounds are sorted before their case is
  // folded. So [Z-a] matches nothing when case is ignored.
  bool InRange(char first, char last, char c) const {
    if (AsSigned(first) > AsSigned(last)) std::swap(first, last);
    return Rank(c) >= Rank(first) && Rank(c) <= Rank(last);
  }

 private:
  char Fold(char c) const { return mode_ == CaseMode::kIgnore ? LowerChar(c) : c; }
  int Rank(char c) const { return mode_ == CaseMode::kIgnore ? AsFolded(c) : AsSigned(c); }
  bool Same(char a, char b) const { return Fold(a) == Fold(b); }

  // Returns whether `c` is in a class such as [a-z], and where the next element begins. `at` is the position after the
  // opening bracket. As in Redis, a class without a closing bracket extends to the end of the pattern.
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
    // As in Redis, a member of a class after a backslash is compared case-sensitively even when case is ignored.
    if (pattern_[at] == '\\' && left >= 2) return {pattern_[at + 1] == c, at + 2};
    // As in Redis, in [a-] the closing bracket is the upper bound of the range and does not close the class.
    if (left >= 3 && pattern_[at + 1] == '-') return {InRange(pattern_[at], pattern_[at + 2], c), at + 3};
    return {Same(pattern_[at], c), at + 1};
  }

  Bytes pattern_;
  CaseMode mode_;
};

size_t SkipStars(Bytes pattern, size_t at) {
  while (at < pattern.size() && pattern[at] == '*') at++;
  return at;
}

// The maximum number of groups of adjacent stars in a pattern; a group at the end does not count. As in Redis, a
// pattern with more groups counts as abuse and matches nothing.
constexpr int kMaxStars = 1000;

}  // namespace

bool HasGlobCharacter(Bytes text) { return text.find_first_of("*?[") != Bytes::npos; }

// GlobMatch: on a mismatch, only the last star is tried with more text. Earlier stars need no retry, because a longer
// match there would leave less text for the part after the last star.
bool GlobMatch(Bytes pattern, Bytes text, CaseMode mode) {
  // As in Redis, even the pattern * does not match the empty text. (KEYS * and SCAN MATCH * do: see GlobFilter.)
  if (text.empty()) return pattern.empty();
  const ElementMatcher matcher(pattern, mode);
  size_t p = 0;
  size_t t = 0;
  size_t resume_p = Bytes::npos;  // after the last star
  size_t resume_t = 0;            // where the text after that star begins
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

// Compiles a pattern into a Glob: the text of the pattern becomes elements and parts, and a set such as [abc] a bitmap.
class GlobReader {
 public:
  GlobReader(Bytes pattern, CaseMode mode, Glob& glob) : pattern_(pattern), mode_(mode), glob_(glob) {}

  void Read() {
    glob_.elements_.reserve(pattern_.size());
    glob_.literal_bytes_.reserve(pattern_.size());
    while (at_ < pattern_.size()) {
      switch (pattern_[at_]) {
        case '*':
          ReadStars();
          break;
        case '?':
          ++at_;
          glob_.Add(Glob::kAny);
          break;
        case '[':
          ReadSet();
          break;
        default:
          ReadPlain();
      }
    }
  }

 private:
  void ReadStars() {
    if (at_ == 0) glob_.begins_with_star_ = true;
    at_ = SkipStars(pattern_, at_);
    if (at_ == pattern_.size()) {
      glob_.ends_with_star_ = true;
    } else {
      glob_.parts_.push_back({.first = glob_.elements_.size()});
    }
  }

  void ReadPlain() {
    if (pattern_[at_] == '\\' && at_ + 1 < pattern_.size()) ++at_;
    const char c = pattern_[at_++];
    glob_.Add(static_cast<unsigned char>(mode_ == CaseMode::kIgnore ? LowerChar(c) : c));
  }

  void ReadSet() {
    ++at_;
    const bool negated = at_ < pattern_.size() && pattern_[at_] == '^';
    if (negated) ++at_;
    Glob::Set set;
    while (at_ < pattern_.size() && pattern_[at_] != ']') ReadMember(set);
    at_ = std::min(at_ + 1, pattern_.size());
    glob_.Add(Glob::kFirstSet + static_cast<Glob::Element>(glob_.sets_.size()));
    glob_.sets_.push_back(negated ? ~set : set);
  }

  // Reads one member of a set such as [abc] from the pattern: a byte, an escaped byte or a range. Adds its bytes to
  // `set`. Must agree with ElementMatcher::MatchMember.
  void ReadMember(Glob::Set& set) {
    const size_t left = pattern_.size() - at_;
    const char c = pattern_[at_];
    if (c == '\\' && left >= 2) {
      set.set(static_cast<unsigned char>(pattern_[at_ + 1]));
      at_ += 2;
    } else if (left >= 3 && pattern_[at_ + 1] == '-') {
      set |= Range(c, pattern_[at_ + 2]);
      at_ += 3;
    } else {
      Include(c, set);
      ++at_;
    }
  }

  void Include(char c, Glob::Set& set) {
    set.set(static_cast<unsigned char>(c));
    if (mode_ == CaseMode::kSensitive) return;
    const char lower = LowerChar(c);
    set.set(static_cast<unsigned char>(lower));
    if (lower >= 'a' && lower <= 'z') set.set(static_cast<unsigned char>(lower - 'a' + 'A'));
  }

  // Returns the bytes of a range such as a-z. If the pattern repeats a range, its bytes are computed only once.
  const Glob::Set& Range(char first, char last) {
    const auto name = static_cast<uint16_t>(static_cast<unsigned char>(first) << 8 | static_cast<unsigned char>(last));
    const auto [row, is_new] = ranges_.try_emplace(name);
    const ElementMatcher matcher({}, mode_);
    for (size_t c = 0; is_new && c < row->second.size(); ++c) {
      row->second[c] = matcher.InRange(first, last, static_cast<char>(c));
    }
    return row->second;
  }

  Bytes pattern_;
  CaseMode mode_;
  Glob& glob_;
  size_t at_ = 0;
  std::unordered_map<uint16_t, Glob::Set> ranges_;
};

// Matches one text with a Glob. Compares the parts at both ends first, then searches for the parts between stars.
class Glob::Search {
 public:
  Search(const Glob& glob, Bytes text) : glob_(glob), text_(text) {}

  bool Run() {
    size_t first = 0;
    size_t last = glob_.parts_.size();
    if (!glob_.begins_with_star_ && !TakeFront(glob_.parts_[first++])) return false;
    if (first == last && !glob_.ends_with_star_) return text_.empty();
    if (!glob_.ends_with_star_ && !TakeBack(glob_.parts_[--last])) return false;
    for (; first < last; ++first) {
      if (!TakeFirst(glob_.parts_[first])) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMaxSteps = 16'000'000;

  bool TakeFront(const Part& part) {
    if (!Fits(part, 0)) return false;
    text_.remove_prefix(part.size);
    return true;
  }
  bool TakeBack(const Part& part) {
    if (text_.size() < part.size || !Fits(part, text_.size() - part.size)) return false;
    text_.remove_suffix(part.size);
    return true;
  }
  // Finds the first place in text_ where the part fits, and removes everything up to the end of this place. (A later
  // place would only leave less text.) Returns false if the part fits nowhere, or if the search has made kMaxSteps
  // comparisons.
  bool TakeFirst(const Part& part) {
    size_t place = 0;
    if (part.is_plain && glob_.mode_ == CaseMode::kSensitive) {
      const void* found = memmem(text_.data(), text_.size(), glob_.literal_bytes_.data() + part.first, part.size);
      if (found == nullptr) return false;
      place = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
    } else {
      while (place + part.size <= text_.size() && steps_ <= kMaxSteps && !Fits(part, place)) ++place;
      if (place + part.size > text_.size() || steps_ > kMaxSteps) return false;
    }
    text_.remove_prefix(place + part.size);
    return true;
  }

  bool Fits(const Part& part, size_t place) {
    if (text_.size() - place < part.size) return false;
    size_t same = 0;
    while (same < part.size && glob_.Accepts(glob_.elements_[part.first + same], text_[place + same])) ++same;
    steps_ += same + 1;
    return same == part.size;
  }

  const Glob& glob_;
  Bytes text_;
  size_t steps_ = 0;
};

Glob::Glob(Bytes pattern, CaseMode mode) : mode_(mode) { GlobReader(pattern, mode, *this).Read(); }

Glob::Part& Glob::OpenPart() { return parts_.empty() ? parts_.emplace_back(Part{.first = 0}) : parts_.back(); }

void Glob::Add(Element element) {
  Part& part = OpenPart();
  ++part.size;
  part.is_plain = part.is_plain && element < kAny;
  elements_.push_back(element);
  literal_bytes_.push_back(static_cast<char>(element));
}

bool Glob::Accepts(Element element, char c) const {
  if (element == kAny) return true;
  if (element >= kFirstSet) return sets_[element - kFirstSet][static_cast<unsigned char>(c)];
  return element == static_cast<unsigned char>(mode_ == CaseMode::kIgnore ? LowerChar(c) : c);
}

bool Glob::Matches(Bytes text) const {
  if (text.empty()) return parts_.empty() && !ends_with_star_;
  if (elements_.empty()) return ends_with_star_;
  if (elements_.size() > text.size()) return false;
  // As in GlobMatch, a pattern with more than kMaxStars groups of stars matches nothing. A group at the end does not
  // count.
  if (parts_.size() - (begins_with_star_ ? 0 : 1) > static_cast<size_t>(kMaxStars)) return false;
  return Search(*this, text).Run();
}

}  // namespace respite
