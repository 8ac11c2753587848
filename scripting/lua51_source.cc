// Adapts source text of 5.1 for the compiler of 5.4. Two differences matter most. In 5.1, an unknown escape sequence,
// such as `\.` and even `\x`, means just the character. A function with `...` that does not use `...` finds its
// arguments in the table `arg`.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "scripting/lua51.h"

namespace respite {
namespace {

constexpr char kBinaryMark = '\x1b';

constexpr bool IsNameChar(char c) { return IsDigit(c) || c == '_' || (LowerChar(c) >= 'a' && LowerChar(c) <= 'z'); }

// The kinds of tokens that may begin at a character of the source.
enum class Start : uint8_t {
  kNothing,   // nothing that may need a change, for example a blank or `+`
  kText,      // a text in quotes
  kComment,   // '-': a comment or a minus
  kLongText,  // '[': a long text such as [[a]], or an index
  kWord,      // a name, a keyword or a number
  kDots,      // '.': three dots (the variable arguments), or other dots
  kPair       // / < > or a colon: if doubled, an operator of 5.4 that 5.1 does not have (// << >> ::)
};

constexpr std::array<Start, 256> kStarts = [] {
  std::array<Start, 256> starts{};
  for (size_t c = 0; c < starts.size(); ++c) {
    if (IsNameChar(static_cast<char>(c))) starts[c] = Start::kWord;
  }
  starts['"'] = starts['\''] = Start::kText;
  starts['-'] = Start::kComment;
  starts['['] = Start::kLongText;
  starts['.'] = Start::kDots;
  for (char c : Bytes("/<>:")) starts[static_cast<uint8_t>(c)] = Start::kPair;
  return starts;
}();

Start StartOf(char c) { return kStarts[static_cast<uint8_t>(c)]; }

// Reads a source text token by token and changes what 5.4 would read differently. Does not check the text: the compiler
// reports errors.
class Adapter {
 public:
  // `text` and `whole` are buffers for the adapted source, and must be empty. Adapt uses them only if the source must
  // change.
  Adapter(lua_State* lua, Bytes source, LuaBuffer& text, LuaBuffer& whole)
      : lua_(lua), source_(source), text_(text), with_arg_tables_(whole), bodies_(lua) {
    // Inserts a space before bytecode, so that 5.4 reads the source as text: 5.4 detects bytecode only at the start.
    if (source.starts_with(kBinaryMark)) Insert(" ");
  }

  // Returns the text for the compiler: the source itself if no change was necessary, otherwise the changed text.
  Bytes Adapt() {
    while (place_ < source_.size() && blocks_.size() < kMaxBlocks) ReadToken();
    place_ = source_.size();
    if (!is_changed_ && bodies_.View().empty()) return source_;
    CopyUnchanged();
    return bodies_.View().empty() ? text_.View() : WithArgTables();
  }

 private:
  static constexpr Bytes kArgTable = " local arg={n=select('#',...),...};";
  // Inside this many nested blocks, the source is no longer adapted. The text after that needs no change, because the
  // compiler refuses the source at 200 nested levels, and never reads further.
  static constexpr size_t kMaxBlocks = 1000;
  static constexpr size_t kBytesPerLook = size_t{1} << 20;

  // A block of the source that an `end` will close.
  struct Block {
    bool has_arg_table = false;  // a function with `...`, which the part read so far has not used
    bool uses_arg = false;
    size_t body = 0;  // where it starts in the adapted text
  };

  char At(size_t ahead) const { return place_ + ahead < source_.size() ? source_[place_ + ahead] : '\0'; }
  size_t AdaptedSize() const { return text_.View().size() + (place_ - copied_); }

  // Moves place_ past the next `count` characters, which stay as they are.
  void Keep(size_t count) {
    place_ += std::min(count, source_.size() - place_);
    if (place_ - looked_ < kBytesPerLook) return;
    looked_ = place_;
    CallHook(lua_);
  }

  void CopyUnchanged() {
    const Bytes unchanged = source_.substr(copied_, place_ - copied_);
    if (!is_changed_) text_.Reserve(source_.size());  // otherwise the buffer would double, and take twice the memory
    is_changed_ = true;
    text_.Append(unchanged);
    copied_ = place_;
  }

  void Insert(Bytes inserted) {
    CopyUnchanged();
    text_.Append(inserted);
  }

  void LeaveOut() {
    CopyUnchanged();
    copied_ = ++place_;
  }

  void ReadToken() {
    const char c = At(0);
    switch (StartOf(c)) {
      case Start::kNothing:
        return KeepNothings();
      case Start::kText:
        return ReadText(c);
      case Start::kComment:
        return At(1) == '-' ? ReadComment() : Keep(1);
      case Start::kLongText:
        return LongBracket() > 0 ? ReadLong() : Keep(1);
      case Start::kWord:
        return ReadWord();
      case Start::kDots:
        return source_.substr(place_).starts_with("...") ? ReadDots() : Keep(1);
      case Start::kPair:
        Keep(1);
        // 5.1 does not have the operators //, <<, >> and ::, so a space separates the two characters.
        if (c == At(0)) Insert(" ");
    }
  }

  void KeepNothings() {
    size_t count = 1;
    while (count < kBytesPerLook && place_ + count < source_.size() && StartOf(At(count)) == Start::kNothing) ++count;
    Keep(count);
  }

  void ReadDots() {
    if (!functions_.empty()) blocks_[functions_.back()].has_arg_table = false;
    Keep(3);
  }

  // Returns the size of the long bracket, such as [==[, that opens at the current place. Returns 0 if none opens there.
  size_t LongBracket() const {
    size_t size = 1;
    while (At(size) == '=') size++;
    return At(size) == '[' ? size + 1 : 0;
  }

  void ReadLong() {
    const size_t size = LongBracket();
    const std::string closing = "]" + std::string(size - 2, '=') + "]";
    Keep(size);
    while (place_ < source_.size() && !source_.substr(place_).starts_with(closing)) Keep(PartUntil("]"));
    Keep(size);
  }

  void ReadComment() {
    Keep(2);
    if (At(0) == '[' && LongBracket() > 0) return ReadLong();
    while (place_ < source_.size() && At(0) != '\n' && At(0) != '\r') Keep(PartUntil("\r\n"));
  }

  // Returns the number of characters before the first of the characters `ends`, but at least 1 and at most
  // kBytesPerLook.
  size_t PartUntil(Bytes ends) const {
    const Bytes part = source_.substr(place_, kBytesPerLook);
    return std::max<size_t>(std::min(part.find_first_of(ends), part.size()), 1);
  }

  void ReadText(char quote) {
    Keep(1);
    while (place_ < source_.size() && At(0) != quote && At(0) != '\n' && At(0) != '\r') {
      if (At(0) == '\\') {
        ReadEscape();
      } else {
        KeepPlain(quote);
      }
    }
    Keep(1);
  }

  void KeepPlain(char quote) {
    size_t count = 1;
    for (; count < kBytesPerLook && place_ + count < source_.size(); ++count) {
      const char c = source_[place_ + count];
      if (c == quote || c == '\\' || c == '\n' || c == '\r') break;
    }
    Keep(count);
  }

  void ReadEscape() {
    constexpr Bytes kKnown = "abfnrtv\\\"'\n\r0123456789";
    if (place_ + 1 < source_.size() && kKnown.find(At(1)) == Bytes::npos) {
      LeaveOut();
      return Keep(1);
    }
    const bool is_line_end = (At(1) == '\r' && At(2) == '\n') || (At(1) == '\n' && At(2) == '\r');
    Keep(is_line_end ? 3 : 2);
  }

  void ReadWord() {
    size_t size = 1;
    while (IsNameChar(At(size))) size++;
    const Bytes word = source_.substr(place_, size);
    Keep(size);
    if (word == "_ENV") Insert("_");  // an ordinary name in 5.1
    if (word == "function") return ReadParameters();
    if (word == "if" || word == "do") blocks_.emplace_back();
    if (word == "end") CloseBlock();
    if (word == "arg") NoteArg();
  }

  // Marks all enclosing blocks as using `arg`. If a block is marked, the blocks around it are already marked.
  void NoteArg() {
    for (auto block = blocks_.rbegin(); block != blocks_.rend() && !block->uses_arg; ++block) block->uses_arg = true;
  }

  // Reads the name and parameters after the word `function`, and opens the function's block.
  void ReadParameters() {
    const size_t end = has_parentheses_ ? source_.find(')', place_) : Bytes::npos;
    Block block;
    has_parentheses_ = end != Bytes::npos;
    if (has_parentheses_) {
      Bytes parameters = source_.substr(place_, end - place_);
      while (!parameters.empty() && IsSpace(parameters.back())) parameters.remove_suffix(1);
      block.has_arg_table = parameters.ends_with("...");
      Keep(end + 1 - place_);
    }
    block.body = AdaptedSize();
    functions_.push_back(blocks_.size());
    blocks_.push_back(block);
  }

  void CloseBlock() {
    if (blocks_.empty()) return;
    const Block& block = blocks_.back();
    if (block.has_arg_table && block.uses_arg) NoteBody(block.body);
    if (block.body != 0) functions_.pop_back();
    blocks_.pop_back();
  }

  // Records where the body of a function begins in the adapted text, because WithArgTables must insert the table `arg`
  // of Lua 5.1 there. bodies_ is in Lua's memory, so that the memory limit of scripts applies.
  void NoteBody(size_t body) { bodies_.Append(Bytes(reinterpret_cast<const char*>(&body), sizeof body)); }

  Bytes WithArgTables() {
    auto* const end = reinterpret_cast<size_t*>(bodies_.Reserve(0));
    size_t* const begin = end - bodies_.View().size() / sizeof(size_t);
    std::sort(begin, end);  // inner functions end first, so they are noted before outer ones
    with_arg_tables_.Reserve(text_.View().size() + static_cast<size_t>(end - begin) * kArgTable.size());
    size_t copied = 0;
    for (const size_t* body = begin; body != end; ++body) {
      with_arg_tables_.Append(text_.View().substr(copied, *body - copied));
      with_arg_tables_.Append(kArgTable);
      copied = *body;
    }
    with_arg_tables_.Append(text_.View().substr(copied));
    return with_arg_tables_.View();
  }

  lua_State* lua_;
  Bytes source_;
  size_t place_ = 0;
  size_t copied_ = 0;  // size of the source's part that was copied into text_ or omitted
  size_t looked_ = 0;  // the place where the script could last be ended
  bool is_changed_ = false;
  LuaBuffer& text_;             // empty until something changes
  LuaBuffer& with_arg_tables_;  // text_ with the `arg` tables
  std::vector<Block> blocks_;
  std::vector<size_t> functions_;  // the indexes of blocks that are functions
  LuaBuffer bodies_;               // offsets in the adapted text of functions that need `arg`, each a size_t
  bool has_parentheses_ = true;    // false if the rest of the source has no `)`
};

// A lua_Reader that returns the text in parts, so that a script can be ended while a long text is compiled.
const char* ReadPart(lua_State* lua, void* rest, size_t* size) {
  // Parts are small, because the time for each `or` grows with the number of `or` before it in the expression.
  constexpr size_t kPartSize = 1024;
  Bytes& text = *static_cast<Bytes*>(rest);
  const Bytes part = text.substr(0, kPartSize);
  text.remove_prefix(part.size());
  if (!text.empty()) CallHook(lua);
  *size = part.size();
  return part.data();
}

}  // namespace

AdaptedSource::AdaptedSource(lua_State* lua, Bytes source)
    : text_(lua), with_arg_tables_(lua), view_(Adapter(lua, source, text_, with_arg_tables_).Adapt()) {}

int LoadSource(lua_State* lua, Bytes source, const char* chunk) {
  const AdaptedSource adapted(lua, source);
  Bytes rest = adapted.View();
  return lua_load(lua, ReadPart, &rest, chunk, "t");
}

}  // namespace respite
