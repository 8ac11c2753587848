// Result: a value, or the reason why there is none. A function that does not throw returns a Result to explain a
// failure.
//
//   Result<Header> ReadHeader(Bytes file) {
//     if (file.size() < kHeaderSize) return Failure("truncated header");
//     return Header{…};
//   }
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace respite {

// Failure(error) makes a failed Result. So even in a Result<std::string>, the error cannot be mistaken for the value.
template <typename E>
struct Failure {  // holds the reason of a failure; converts to a failed Result
  E error;        // why the function failed

  explicit Failure(E reason) : error(std::move(reason)) {}
};
Failure(const char*)->Failure<std::string>;  // Failure("text") holds a std::string

// The value of a Result<Done>, whose function only succeeds or fails. Success is `return Done{};`.
struct Done {};

template <typename T, typename E = std::string>
class [[nodiscard]] Result {  // a value, or the reason why there is none
 public:
  // Makes a successful Result from a value that converts to T. Does not replace the copy and move constructors, because
  // a Result does not convert to T.
  template <typename U = T>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  requires std::is_convertible_v<U&&, T> Result(U&& value)
      : outcome_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT(google-explicit-constructor)

  template <typename F>
  requires std::is_convertible_v<F, E> Result(Failure<F> failure)  // NOLINT(google-explicit-constructor)
      : outcome_(std::in_place_index<1>, std::move(failure.error)) {}

  bool ok() const { return outcome_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  const T& value() const& { return *std::get_if<0>(&outcome_); }    // the value; requires: ok()
  T& value() & { return *std::get_if<0>(&outcome_); }               // the value, for changes; requires: ok()
  T&& value() && { return std::move(*std::get_if<0>(&outcome_)); }  // moves the value out; requires: ok()

  // Requires: !ok().
  const E& error() const& { return *std::get_if<1>(&outcome_); }    // the reason of the failure; requires: !ok()
  E&& error() && { return std::move(*std::get_if<1>(&outcome_)); }  // moves the reason out; requires: !ok()

 private:
  std::variant<T, E> outcome_;  // the value, or why there is none
};

}  // namespace respite
