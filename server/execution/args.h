// Args: a cursor over the words of one command.
//
// Typed: `auto [key, delta] = call.args.Take<Bytes, int64_t>();` throws Redis' refusal for a word that does not fit.
// Options: `if (args.TakeToken("NX")) …`. Words are views of the request; they die with the Call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "base/number_text.h"
#include "server/catalogue/refusals.h"

namespace respite {

class Args {
 public:
  using HiddenTokens = std::vector<std::string_view>;
  // The cursor starts behind the command's name (and its subcommand's). `hidden` are tokens that this server does not
  // know (Command::hidden_tokens); null: none.
  Args(std::span<const Bytes> words, size_t first, const HiddenTokens* hidden = nullptr)
      : words_(words), next_(first), hidden_(hidden) {}

  // All words, name included, as Redis numbers them.
  std::span<const Bytes> Words() const { return words_; }
  Bytes operator[](size_t index) const { return words_[index]; }
  size_t Count() const { return words_.size(); }

  size_t Left() const { return words_.size() - next_; }
  bool AtEnd() const { return next_ == words_.size(); }
  std::span<const Bytes> Rest() const { return words_.subspan(next_); }

  // Throws the syntax refusal at the end of the words.
  Bytes Next() {
    if (AtEnd()) throw Refusal{refusals::kSyntax};
    return words_[next_++];
  }
  int64_t NextInteger(const char* refusal = refusals::kNotInteger) { return Integer(Next(), refusal); }
  // Redis: a word that is no integer at all gets the same answer as one below `least`, which must not be negative.
  size_t NextCount(int64_t least, const char* refusal) {
    const int64_t count = NextInteger(refusal);
    if (count < least) throw Refusal{refusal};
    return static_cast<size_t>(count);
  }
  // So many words in a row.
  std::span<const Bytes> NextMany(size_t count, const char* refusal = refusals::kSyntax) {
    if (count > Left()) throw Refusal{refusal};
    next_ += count;
    return words_.subspan(next_ - count, count);
  }
  double NextDouble() { return Double(Next()); }

  // Whether a word is this token, whatever its case.
  bool IsToken(Bytes word, Bytes token) const {
    return EqualsIgnoreCase(word, token) && (hidden_ == nullptr || !Hides(token));
  }
  // Steps over the next word if it is this token.
  bool TakeToken(Bytes token) {
    if (AtEnd() || !IsToken(words_[next_], token)) return false;
    ++next_;
    return true;
  }
  // As TakeToken, for a token that needs `values` more words behind it; not taken without them.
  bool TakeTokenWith(Bytes token, size_t values) { return Left() > values && TakeToken(token); }
  void ExpectEnd() const {
    if (!AtEnd()) throw Refusal{refusals::kSyntax};
  }
  // For names of things of which a server has a few hundred, such as commands and directives, when each name costs much
  // more than a look-up. Redis: has no such limit, and stalls.
  void ExpectFewNames() const {
    constexpr size_t kMostNames = 1024;
    if (Left() > kMostNames) throw Refusal{refusals::kTooManyNames};
  }

  template <class... Types>
  std::tuple<Types...> Take() {
    return std::tuple<Types...>{TakeOne<Types>()...};  // braces: from left to right
  }

  static int64_t Integer(Bytes word, const char* refusal = refusals::kNotInteger) {
    auto value = ParseInteger(word);
    if (!value) throw Refusal{refusal};
    return *value;
  }
  static double Double(Bytes word) {
    auto value = ParseDouble(word);
    if (!value) throw Refusal{refusals::kNotFloat};
    return *value;
  }

 private:
  template <class Type>
  Type TakeOne();
  bool Hides(Bytes token) const {
    return std::ranges::any_of(*hidden_, [token](Bytes hidden) { return EqualsIgnoreCase(hidden, token); });
  }

  std::span<const Bytes> words_;
  size_t next_;
  const HiddenTokens* hidden_;
};

template <class Type>
Type Args::TakeOne() {
  if constexpr (std::is_same_v<Type, Bytes>) {
    return Next();
  } else if constexpr (std::is_same_v<Type, int64_t>) {
    return NextInteger();
  } else {
    static_assert(std::is_same_v<Type, double>, "no such argument type");
    return NextDouble();
  }
}

}  // namespace respite
