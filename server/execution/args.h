// Args: a cursor over the arguments of one command.
//
// Typed: `auto [key, delta] = call.args.Take<Bytes, int64_t>();` throws Redis' error for an argument of the wrong type.
// Options: `if (args.TakeToken("NX")) …`. Arguments are views of the request and valid until the end of the Call.
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

class Args {  // a cursor over the arguments of one command
 public:
  using HiddenTokens = std::vector<std::string_view>;
  // `first` is the index of the first argument after the name of the command or subcommand: the cursor starts there.
  // `hidden` are the tokens that the emulated version lacks (Command::hidden_tokens), or null.
  Args(std::span<const Bytes> arguments, size_t first, const HiddenTokens* hidden = nullptr)
      : words_(arguments), next_(first), hidden_(hidden) {}

  std::span<const Bytes> Words() const { return words_; }  // all arguments, with the command's name, as Redis' argv
  Bytes operator[](size_t index) const { return words_[index]; }
  size_t Count() const { return words_.size(); }  // number of arguments, with the command's name

  size_t Left() const { return words_.size() - next_; }                  // number of arguments after the cursor
  bool AtEnd() const { return next_ == words_.size(); }                  // no argument is left
  std::span<const Bytes> Rest() const { return words_.subspan(next_); }  // the arguments after the cursor

  Bytes Next() {  // takes the next argument; throws a syntax error at the end
    if (AtEnd()) throw Refusal{refusals::kSyntax};
    return words_[next_++];
  }
  int64_t NextInteger(const char* refusal = refusals::kNotInteger) {  // takes an integer, or throws `refusal`
    return Integer(Next(), refusal);
  }
  // Takes the next argument as an integer of at least `min`. As in Redis, throws the error `refusal` both for a lower
  // number and for an argument that is no integer. Requires: min >= 0.
  size_t NextCount(int64_t min, const char* refusal) {  // takes an integer of at least `min`, or throws `refusal`
    const int64_t count = NextInteger(refusal);
    if (count < min) throw Refusal{refusal};
    return static_cast<size_t>(count);
  }
  std::span<const Bytes> NextMany(size_t count, const char* refusal = refusals::kSyntax) {  // takes `count`, or throws
    if (count > Left()) throw Refusal{refusal};
    next_ += count;
    return words_.subspan(next_ - count, count);
  }
  double NextDouble() { return Double(Next()); }  // takes the next argument; throws if it is no number

  bool IsToken(Bytes word, Bytes token) const {  // true: `word` is `token`, ignoring case, and the version has it
    return EqualsIgnoreCase(word, token) && (hidden_ == nullptr || !Hides(token));
  }
  bool TakeToken(Bytes token) {  // true: the next argument was `token`, and is skipped
    if (AtEnd() || !IsToken(words_[next_], token)) return false;
    ++next_;
    return true;
  }
  // Skips the next argument if it is `token` and at least `values_after` arguments follow the token. Returns whether
  // the token was skipped.
  bool TakeTokenWith(Bytes token, size_t values_after) {  // takes `token` if `values_after` arguments follow it
    return Left() > values_after && TakeToken(token);
  }
  void ExpectEnd() const {  // throws a syntax error if an argument is left
    if (!AtEnd()) throw Refusal{refusals::kSyntax};
  }
  // Limits the number of names (of commands, directives …) in one request. A server has only a few hundred commands and
  // directives. Each name costs much more than a look-up, so too many would stall the server. Redis has no such limit.
  void ExpectFewArguments() const {  // throws if more than 1024 arguments are left
    constexpr size_t kMaxNames = 1024;
    if (Left() > kMaxNames) throw Refusal{refusals::kTooManyNames};
  }

  template <class... Types>
  std::tuple<Types...> Take() {                        // takes the next arguments, one of each of these types
    return std::tuple<Types...>{TakeOne<Types>()...};  // braces evaluate from left to right
  }

  static int64_t Integer(Bytes word, const char* refusal = refusals::kNotInteger) {  // parses `word`, or throws
    auto value = ParseInteger(word);
    if (!value) throw Refusal{refusal};
    return *value;
  }
  static double Double(Bytes word) {  // parses a number; throws if `word` is none
    auto value = ParseDouble(word);
    if (!value) throw Refusal{refusals::kNotFloat};
    return *value;
  }

 private:
  template <class Type>
  Type TakeOne();                  // takes the next argument as this type
  bool Hides(Bytes token) const {  // whether the emulated version lacks the token
    return std::ranges::any_of(*hidden_, [token](Bytes hidden) { return EqualsIgnoreCase(hidden, token); });
  }

  std::span<const Bytes> words_;  // all arguments, with the command's name
  size_t next_;                   // index of the next argument
  const HiddenTokens* hidden_;    // tokens that the emulated version lacks: never accepted; null: none
};

template <class Type>
Type Args::TakeOne() {  // takes the next argument as this type
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
