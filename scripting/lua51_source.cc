// Adapts source text of 5.1 for the compiler of 5.4. Two things differ: an escape sequence that 5.1 does not know is
// just the character (so `\.`, but also `\x`), and a function with `...` that does not use it finds its arguments in
// the table `arg`.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "scripting/lua51.h"

namespace respite {
namespace {

constexpr char kBinaryMark = '\x1b';

constexpr bool IsNameChar(char c) { return IsDigit(c) || c == '_' || (LowerChar(c) >= 'a' && LowerChar(c) <= 'z'); }

// Copies a chunk token by token. Does not check the text: the compiler reports errors.
class Adapter {
 public:
  explicit Adapter(Bytes source) : source_(source) {
    // 5.4 detects bytecode only at the start of the text.
    if (source.starts_with(kBinaryMark)) text_.push_back(' ');
  }

  std::string Adapt() && {
    while (place_ < source_.size()) CopyToken();
    return insertions_.empty() ? std::move(text_) : WithArgTables();
  }

 private:
  static constexpr Bytes kArgTable = " local arg={n=select('#',...),...};";

  // A block that an `end` will close.
  struct Block {
    bool has_arg_table = false;  // a function with `...` that has not been used so far
    bool uses_arg = false;
    size_t body = 0;  // where it starts in text_
  };

  char At(size_t ahead) const { return place_ + ahead < source_.size() ? source_[place_ + ahead] : '\0'; }

  void Copy(size_t count) {
    text_.append(source_.substr(place_, count));
    place_ = std::min(place_ + count, source_.size());
  }

  void CopyToken() {
    const char c = At(0);
    if (c == '"' || c == '\'') return CopyString(c);
    if (c == '-' && At(1) == '-') return CopyComment();
    if (c == '[' && LongBracket() > 0) return CopyLong();
    if (IsNameChar(c)) return CopyWord();
    if (source_.substr(place_).starts_with("...")) return CopyDots();
    Copy(1);
    // 5.1 does not have these operators: it reads the two characters separately.
    if (c == At(0) && Bytes("/<>:").find(c) != Bytes::npos) text_.push_back(' ');
  }

  void CopyDots() {
    if (!functions_.empty()) blocks_[functions_.back()].has_arg_table = false;
    Copy(3);
  }

  // The size of an opening long bracket here, or 0.
  size_t LongBracket() const {
    size_t size = 1;
    while (At(size) == '=') size++;
    return At(size) == '[' ? size + 1 : 0;
  }

  void CopyLong() {
    const size_t size = LongBracket();
    const std::string closing = "]" + std::string(size - 2, '=') + "]";
    const size_t end = source_.find(closing, place_ + size);
    Copy(end == Bytes::npos ? source_.size() : end + size - place_);
  }

  void CopyComment() {
    Copy(2);
    if (At(0) == '[' && LongBracket() > 0) return CopyLong();
    const size_t end = source_.find_first_of("\r\n", place_);
    Copy((end == Bytes::npos ? source_.size() : end) - place_);
  }

  void CopyString(char quote) {
    Copy(1);
    while (place_ < source_.size() && At(0) != quote && At(0) != '\n' && At(0) != '\r') {
      if (At(0) == '\\') {
        CopyEscape();
      } else {
        Copy(1);
      }
    }
    Copy(1);
  }

  void CopyEscape() {
    constexpr Bytes kKnown = "abfnrtv\\\"'\n\r0123456789";
    if (place_ + 1 < source_.size() && kKnown.find(At(1)) == Bytes::npos) {
      place_++;
      return Copy(1);
    }
    const bool is_line_end = (At(1) == '\r' && At(2) == '\n') || (At(1) == '\n' && At(2) == '\r');
    Copy(is_line_end ? 3 : 2);
  }

  void CopyWord() {
    size_t size = 1;
    while (IsNameChar(At(size))) size++;
    const Bytes word = source_.substr(place_, size);
    Copy(size);
    if (word == "_ENV") text_.push_back('_');  // an ordinary name in 5.1
    if (word == "function") return CopyParameters();
    if (word == "if" || word == "do") blocks_.emplace_back();
    if (word == "end") CloseBlock();
    if (word == "arg") NoteArg();
  }

  // All enclosing functions use it. If one is marked, those around it are marked already.
  void NoteArg() {
    for (auto block = blocks_.rbegin(); block != blocks_.rend() && !block->uses_arg; ++block) block->uses_arg = true;
  }

  // Copies the name and parameters after `function`.
  void CopyParameters() {
    const size_t end = has_parentheses_ ? source_.find(')', place_) : Bytes::npos;
    Block block;
    has_parentheses_ = end != Bytes::npos;
    if (has_parentheses_) {
      Bytes parameters = source_.substr(place_, end - place_);
      while (!parameters.empty() && IsSpace(parameters.back())) parameters.remove_suffix(1);
      block.has_arg_table = parameters.ends_with("...");
      Copy(end + 1 - place_);
    }
    block.body = text_.size();
    functions_.push_back(blocks_.size());
    blocks_.push_back(block);
  }

  void CloseBlock() {
    if (blocks_.empty()) return;
    const Block& block = blocks_.back();
    if (block.has_arg_table && block.uses_arg) insertions_.push_back(block.body);
    if (block.body != 0) functions_.pop_back();
    blocks_.pop_back();
  }

  std::string WithArgTables() {
    std::sort(insertions_.begin(), insertions_.end());  // inner functions end first
    std::string text;
    text.reserve(text_.size() + insertions_.size() * kArgTable.size());
    size_t copied = 0;
    for (size_t place : insertions_) {
      text.append(text_, copied, place - copied).append(kArgTable);
      copied = place;
    }
    return text.append(text_, copied);
  }

  Bytes source_;
  size_t place_ = 0;
  std::string text_;
  std::vector<Block> blocks_;
  std::vector<size_t> functions_;   // the indexes of blocks that are functions
  std::vector<size_t> insertions_;  // places in text_ where a function needs its `arg`
  bool has_parentheses_ = true;     // false if the rest of the source has no `)`
};

bool NeedsAdapter(Bytes source) {
  for (Bytes newer : {"\\", "//", "<<", ">>", "::", "_ENV"}) {
    if (source.find(newer) != Bytes::npos) return true;
  }
  return source.starts_with(kBinaryMark) || (source.find("arg") != Bytes::npos && source.find("...") != Bytes::npos);
}

}  // namespace

std::string AdaptSource(Bytes source) { return NeedsAdapter(source) ? Adapter(source).Adapt() : std::string(source); }

}  // namespace respite
