// The options of SET and GETEX. SETNX, SETEX and PSETEX are SET with fixed options.
#pragma once

#include <cstdint>

#include "server/execution/call.h"

namespace respite {

enum class SetCondition : uint8_t { kAlways, kIfAbsent, kIfPresent, kIfEqual };

// What happens to the deadline of the key. The last four values need a time.
enum class ExpiryOption : uint8_t { kNone, kKeep, kPersist, kSeconds, kMilliseconds, kUnixSeconds, kUnixMilliseconds };

struct SetOptions {                                // the options of SET and GETEX
  SetCondition condition = SetCondition::kAlways;  // given by NX, XX or IFEQ
  Bytes expected = {};                             // value required by kIfEqual (IFEQ)
  bool returns_old = false;                        // GET: replies with the previous value
  ExpiryOption expiry = ExpiryOption::kNone;       // whether the command sets, keeps or removes the deadline
  Bytes time = {};                                 // as the client wrote it; parsed after all other options

  bool HasTime() const { return expiry >= ExpiryOption::kSeconds; }         // EX, PX, EXAT or PXAT was given
  bool IsAbsolute() const { return expiry >= ExpiryOption::kUnixSeconds; }  // `time` is a Unix time
};

// Parses [NX|XX|IFEQ value] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]. Takes all remaining arguments.
SetOptions ParseSetOptions(Call& call);    // parses the options of SET after key and value
SetOptions ParseGetExOptions(Args& args);  // [EX s|PX ms|EXAT s|PXAT ms|PERSIST]

// Converts the time of the options to a deadline. Throws a Refusal if the time is not positive or is out of range.
int64_t DeadlineOf(const Call& call, const SetOptions& options);  // Unix milliseconds, or kNoDeadline without a time

}  // namespace respite
