// The options of SET, MSETEX and GETEX; INCREX and DELEX use parts of them. SETNX, SETEX and PSETEX are SET with fixed
// options.
#pragma once

#include <cstdint>
#include <string>

#include "server/execution/call.h"

namespace respite {

enum class SetCondition : uint8_t { kAlways, kIfAbsent, kIfPresent };  // no option, NX, XX

// A condition on the string at a key: the options IFEQ, IFNE, IFDEQ and IFDNE of SET and DELEX. A digest is the text
// that DIGEST returns.
struct ValueCondition {  // IFEQ, IFNE, IFDEQ or IFDNE with its argument
  enum class Kind : uint8_t { kNone, kEqual, kNotEqual, kDigestEqual, kDigestNotEqual };

  // Returns whether the string in `entry` fulfils the condition. Null means that the key does not exist: this fulfils
  // IFNE and IFDNE, but not IFEQ and IFDEQ. Throws a Refusal if the key exists and a digest to compare with has not 16
  // characters.
  bool IsFulfilledBy(const Entry* entry) const;  // whether the string in `entry` fulfils it; null: no key
  void CheckDigest() const;                      // throws a Refusal for a digest that has not 16 characters

  Kind kind = Kind::kNone;
  Bytes operand = {};  // the string or the digest to compare with
};
ValueCondition::Kind TakeValueConditionKind(Args& args);  // takes a token such as IFEQ; kNone: there is none

std::string DigestText(const Entry& entry);  // the digest of a string: 16 hexadecimal digits of XXH3

// What happens to the deadline of the key. The last four values need a time.
enum class ExpiryOption : uint8_t { kNone, kKeep, kPersist, kSeconds, kMilliseconds, kUnixSeconds, kUnixMilliseconds };

struct SetOptions {                                // the options of SET, MSETEX and GETEX
  SetCondition condition = SetCondition::kAlways;  // given by NX or XX
  ValueCondition comparison = {};                  // given by IFEQ, IFNE, IFDEQ or IFDNE
  bool returns_old = false;                        // GET: replies with the previous value
  ExpiryOption expiry = ExpiryOption::kNone;       // whether the command sets, keeps or removes the deadline
  Bytes time = {};  // argument of EX, PX, EXAT or PXAT, as the client wrote it; parsed last

  bool HasTime() const { return expiry >= ExpiryOption::kSeconds; }         // EX, PX, EXAT or PXAT was given
  bool IsAbsolute() const { return expiry >= ExpiryOption::kUnixSeconds; }  // `time` is a Unix time, not a duration
};

// ParseSetOptions, ParseMSetExOptions and ParseGetExOptions take all remaining arguments.
SetOptions ParseSetOptions(Call& call);     // [NX|XX] [IFEQ v|IFNE v|…] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]
SetOptions ParseMSetExOptions(Call& call);  // [NX|XX] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]
bool TakeGetExOption(Args& args, SetOptions& options);  // takes one of the options of GETEX; false: there is none
SetOptions ParseGetExOptions(Args& args);               // [EX s|PX ms|EXAT s|PXAT ms|PERSIST]

// Converts the time of the options to a deadline. Throws a Refusal if the time is not positive or is out of range.
int64_t DeadlineOf(const Call& call, const SetOptions& options);  // Unix milliseconds; kNoDeadline if no time was given

}  // namespace respite
