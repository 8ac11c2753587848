// Error texts that several command families use. A handler throws one by `throw Refusal{refusals::kSyntax}`. A text
// that only one family uses is in that family's file, in the same namespace.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"
#include "base/number_text.h"
#include "base/refusal.h"

namespace respite {

struct Command;
struct Dialect;
struct DialectTraits;

namespace refusals {

inline constexpr char kSyntax[] = "ERR syntax error";
inline constexpr char kNotAuthenticated[] = "NOAUTH Authentication required.";
inline constexpr char kTooManyNames[] = "ERR Too many arguments, at most 1024 are allowed";
inline constexpr char kNotInteger[] = "ERR value is not an integer or out of range";
inline constexpr char kNotFloat[] = "ERR value is not a valid float";
inline constexpr char kOutOfRange[] = "ERR value is out of range";
inline constexpr char kMustBePositive[] = "ERR value is out of range, must be positive";
inline constexpr char kWrongType[] = "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr char kNoSuchKey[] = "ERR no such key";
inline constexpr char kOverflow[] = "ERR increment or decrement would overflow";
inline constexpr char kNanOrInfinity[] = "ERR increment would produce NaN or Infinity";
inline constexpr char kNotZeroOrOne[] = "ERR value is out of range, value must between 0 and 1";
inline constexpr char kNumKeysPositive[] = "ERR numkeys should be greater than 0";
inline constexpr char kCountPositive[] = "ERR count should be greater than 0";
inline constexpr char kNotLong[] =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";
inline constexpr char kLimitNegative[] = "ERR LIMIT can't be negative";
inline constexpr char kNoScript[] = "NOSCRIPT No matching script. Please use EVAL.";
inline constexpr char kTryAgain[] = "TRYAGAIN Multiple keys request during rehashing of slot";
inline constexpr char kClusterDown[] = "CLUSTERDOWN The cluster is down";
inline constexpr char kUnspecified[] = "ERR";

// The maximum number of bytes of a client's argument that an error shows. As in Redis, ShownPart also cuts the argument
// at its first NUL byte.
inline constexpr size_t kShownMax = 128;
inline Bytes ShownPart(Bytes word, size_t max = kShownMax) {  // shortens a client's argument for an error text
  Bytes part = word.substr(0, max);
  return part.substr(0, part.find('\0'));
}

inline Refusal InvalidExpire(Bytes command) {  // the error "invalid expire time in …"
  return {"ERR invalid expire time in '" + std::string(command) + "' command"};
}
inline Refusal WrongArity(Bytes command) {  // the error "wrong number of arguments for …"
  return {"ERR wrong number of arguments for '" + std::string(command) + "' command"};
}
inline Refusal NotInCluster(Bytes command) {  // the error "… is not allowed in cluster mode"
  return {"ERR " + std::string(command) + " is not allowed in cluster mode"};
}
Refusal LoadingDataset(const DialectTraits& traits);  // the error reply LOADING
// Returns the error for a request (`words`) with a wrong number of arguments. For a subcommand, a server that emulates
// Redis 6.2 returns the error SubcommandSyntax.
Refusal WrongArity(const Command& command, std::span<const Bytes> words);  // "wrong number …" or "unknown subcommand …"
// Returns the error "unknown subcommand or wrong number of arguments for …" of a container command.
Refusal SubcommandSyntax(const Dialect& dialect, Bytes container, Bytes subcommand);  // "unknown subcommand or …"

}  // namespace refusals
}  // namespace respite
