#include "scripting/lua51_pattern.h"

#include <cctype>
#include <cstring>

#include "scripting/lib_support.h"

namespace respite::lua51 {
namespace {

constexpr char kEscape = '%';
// The maximum length in bytes of an item of a pattern, such as the set [a-z]. A script cannot be ended (SCRIPT KILL)
// while an item is compared with one character of the subject.
constexpr ptrdiff_t kMaxSetBytes = 65536;

bool IsOfClass(unsigned char c, char name) {
  switch (LowerChar(name)) {
    case 'a':
      return std::isalpha(c);
    case 'c':
      return std::iscntrl(c);
    case 'd':
      return std::isdigit(c);
    case 'l':
      return std::islower(c);
    case 'p':
      return std::ispunct(c);
    case 's':
      return std::isspace(c);
    case 'u':
      return std::isupper(c);
    case 'w':
      return std::isalnum(c);
    case 'x':
      return std::isxdigit(c);
    case 'z':
      return c == 0;
    default:
      return false;
  }
}

// Returns true if `c` matches the character after a %: a class, its complement (upper case), or a literal character.
bool MatchesEscaped(unsigned char c, char name) {
  const bool is_class = std::strchr("acdlpsuwxz", LowerChar(name)) != nullptr && name != '\0';
  if (!is_class) return c == static_cast<unsigned char>(name);
  return IsOfClass(c, name) != (LowerChar(name) != name);
}

}  // namespace

PatternMatcher::PatternMatcher(lua_State* lua, Bytes subject, Bytes pattern)
    : lua_(lua), subject_(subject), pattern_(pattern.data()), pattern_end_(pattern_ + pattern.size()) {
  if (const void* zero = std::memchr(pattern_, 0, pattern.size())) pattern_end_ = static_cast<const char*>(zero);
}

const char* PatternMatcher::MatchAt(const char* start) {
  depth_ = 0;
  capture_count_ = 0;
  return Match(start, pattern_);
}

const char* PatternMatcher::Match(const char* at, const char* item) {
  if (++depth_ > kMaxDepth || !HasStackSpace()) luaL_error(lua_, "pattern too complex");
  AddWork(kWorkPerMatchCall);
  const char* end = MatchItems(at, item);
  depth_--;
  return end;
}

void PatternMatcher::CallScriptHook() {
  work_ = 0;
  CallHook(lua_);
}

const char* PatternMatcher::MatchItems(const char* at, const char* item) {
  const char* const subject_end = subject_.data() + subject_.size();
  while (item < pattern_end_) {
    switch (*item) {
      case '(':
        return At(item + 1) == ')' ? StartCapture(at, item + 2, kPosition) : StartCapture(at, item + 1, kUnfinished);
      case ')':
        return EndCapture(at, item + 1);
      case '$':
        if (item + 1 == pattern_end_) return at == subject_end ? at : nullptr;
        break;
      case kEscape:
        if (At(item + 1) == 'b' || At(item + 1) == 'f' || IsDigit(At(item + 1))) return MatchEscape(at, item + 1);
        break;
      default:
        break;
    }
    const char* item_end = FindItemEnd(item);
    if (std::strchr("?*+-", At(item_end)) != nullptr && item_end < pattern_end_) {
      return MatchQuantified(at, item, item_end);
    }
    if (!MatchesOne(at, item, item_end)) return nullptr;
    at++;
    item = item_end;
  }
  return at;
}

const char* PatternMatcher::MatchEscape(const char* at, const char* item) {
  switch (*item) {
    case 'b':
      return MatchBalanced(at, item + 1);
    case 'f':
      return MatchFrontier(at, item + 1);
    default:
      return MatchBackReference(at, item);
  }
}

const char* PatternMatcher::MatchQuantified(const char* at, const char* item, const char* item_end) {
  switch (*item_end) {
    case '*':
      return MatchGreedy(at, item, item_end);
    case '+':
      return MatchesOne(at, item, item_end) ? MatchGreedy(at + 1, item, item_end) : nullptr;
    case '-':
      return MatchLazy(at, item, item_end);
    default:
      break;
  }
  if (MatchesOne(at, item, item_end)) {
    if (const char* end = Match(at + 1, item_end + 1)) return end;
  }
  return Match(at, item_end + 1);
}

const char* PatternMatcher::MatchGreedy(const char* at, const char* item, const char* item_end) {
  ptrdiff_t count = 0;
  while (MatchesOne(at + count, item, item_end)) count++;
  for (; count >= 0; count--) {
    if (const char* end = Match(at + count, item_end + 1)) return end;
  }
  return nullptr;
}

const char* PatternMatcher::MatchLazy(const char* at, const char* item, const char* item_end) {
  while (true) {
    if (const char* end = Match(at, item_end + 1)) return end;
    if (!MatchesOne(at, item, item_end)) return nullptr;
    at++;
  }
}

const char* PatternMatcher::MatchBalanced(const char* at, const char* item) {
  if (item + 1 >= pattern_end_) luaL_error(lua_, "unbalanced pattern");
  const char* const subject_end = subject_.data() + subject_.size();
  if (at == subject_end || *at != item[0]) return nullptr;
  int open = 1;
  for (const char* place = at + 1; place < subject_end; place++) {
    AddWork(1);
    if (*place == item[1]) {
      if (--open == 0) return Match(place + 1, item + 2);
    } else if (*place == item[0]) {
      open++;
    }
  }
  return nullptr;
}

// Matches a frontier: the previous character is outside the set, and the current one is inside. The positions before
// the start and after the end of the subject count as zero bytes.
const char* PatternMatcher::MatchFrontier(const char* at, const char* item) {
  if (At(item) != '[') luaL_error(lua_, "missing '[' after '%%f' in pattern");
  const char* set_end = FindItemEnd(item);
  if (set_end - item > kMaxSetBytes) luaL_error(lua_, "pattern too complex");
  AddWork(static_cast<size_t>(set_end - item));
  const bool is_end = at == subject_.data() + subject_.size();
  const auto before = static_cast<unsigned char>(at == subject_.data() ? '\0' : at[-1]);
  const auto here = static_cast<unsigned char>(is_end ? '\0' : *at);
  if (IsInSet(before, item, set_end) || !IsInSet(here, item, set_end)) return nullptr;
  return Match(at, set_end);
}

const char* PatternMatcher::MatchBackReference(const char* at, const char* item) {
  const Capture& capture = FinishedCapture(*item - '1');
  const auto size = static_cast<size_t>(capture.size);
  const auto rest = static_cast<size_t>(subject_.data() + subject_.size() - at);
  if (rest < size) return nullptr;
  AddWork(size);
  if (std::memcmp(capture.start, at, size) != 0) return nullptr;
  return Match(at + size, item + 1);
}

const char* PatternMatcher::StartCapture(const char* at, const char* item, ptrdiff_t size) {
  if (capture_count_ >= kMaxCaptures) luaL_error(lua_, "too many captures");
  capture_[static_cast<size_t>(capture_count_++)] = {at, size};
  const char* end = Match(at, item);
  if (end == nullptr) capture_count_--;
  return end;
}

const char* PatternMatcher::EndCapture(const char* at, const char* item) {
  int open = capture_count_ - 1;
  while (open >= 0 && capture_[static_cast<size_t>(open)].size != kUnfinished) open--;
  if (open < 0) luaL_error(lua_, "invalid pattern capture");
  Capture& capture = capture_[static_cast<size_t>(open)];
  capture.size = at - capture.start;
  const char* end = Match(at, item);
  if (end == nullptr) capture.size = kUnfinished;
  return end;
}

const char* PatternMatcher::FindItemEnd(const char* item) {
  if (*item == '[') return FindSetEnd(item);
  if (*item != kEscape) return item + 1;
  if (item + 1 >= pattern_end_) luaL_error(lua_, "malformed pattern (ends with '%%')");
  return item + 2;
}

// Returns the end of a set. A closing bracket directly after the opening one (or its ^) belongs to the set.
const char* PatternMatcher::FindSetEnd(const char* set) {
  const char* place = set + 1;
  if (At(place) == '^') place++;
  do {
    if (place >= pattern_end_) luaL_error(lua_, "malformed pattern (missing ']')");
    const bool is_escape = *place++ == kEscape;
    if (is_escape && place < pattern_end_) place++;
  } while (At(place) != ']');
  return place + 1;
}

bool PatternMatcher::MatchesOne(const char* at, const char* item, const char* item_end) {
  if (item_end - item > kMaxSetBytes) luaL_error(lua_, "pattern too complex");
  AddWork(static_cast<size_t>(item_end - item));  // the cost of finding the item's end, and of comparing
  if (at >= subject_.data() + subject_.size()) return false;
  const auto c = static_cast<unsigned char>(*at);
  switch (*item) {
    case '.':
      return true;
    case kEscape:
      return MatchesEscaped(c, item[1]);
    case '[':
      return IsInSet(c, item, item_end);
    default:
      return c == static_cast<unsigned char>(*item);
  }
}

bool PatternMatcher::IsInSet(unsigned char c, const char* set, const char* set_end) const {
  const bool is_complement = set[1] == '^';
  const char* const last = set_end - 1;
  for (const char* place = set + (is_complement ? 2 : 1); place < last; place++) {
    if (*place == kEscape) {
      if (MatchesEscaped(c, *++place)) return !is_complement;
    } else if (place[1] == '-' && place + 2 < last) {
      if (static_cast<unsigned char>(place[0]) <= c && c <= static_cast<unsigned char>(place[2])) return !is_complement;
      place += 2;
    } else if (static_cast<unsigned char>(*place) == c) {
      return !is_complement;
    }
  }
  return is_complement;
}

PatternMatcher::Capture& PatternMatcher::FinishedCapture(int index) {
  if (index < 0 || index >= capture_count_ || capture_[static_cast<size_t>(index)].size == kUnfinished) {
    luaL_error(lua_, "invalid capture index");
  }
  return capture_[static_cast<size_t>(index)];
}

void PatternMatcher::PushCapture(int index, const char* start, const char* end) {
  if (index >= capture_count_) {
    if (index != 0) luaL_error(lua_, "invalid capture index");
    lua_pushlstring(lua_, start, static_cast<size_t>(end - start));
    return;
  }
  const Capture& capture = capture_[static_cast<size_t>(index)];
  if (capture.size == kUnfinished) luaL_error(lua_, "unfinished capture");
  if (capture.size == kPosition) {
    lua_pushinteger(lua_, capture.start - subject_.data() + 1);
  } else {
    lua_pushlstring(lua_, capture.start, static_cast<size_t>(capture.size));
  }
}

int PatternMatcher::PushCaptures(const char* start, const char* end) {
  const int count = capture_count_ == 0 ? 1 : capture_count_;
  luaL_checkstack(lua_, count, "too many captures");
  for (int i = 0; i < count; i++) PushCapture(i, start, end);
  return count;
}

int PatternMatcher::PushOwnCaptures() { return capture_count_ == 0 ? 0 : PushCaptures(nullptr, nullptr); }

}  // namespace respite::lua51
