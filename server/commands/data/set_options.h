// The options of SET and GETEX. SETNX, SETEX and PSETEX are SET with fixed options.
#pragma once

#include <cstdint>

#include "server/execution/call.h"

namespace respite {

enum class SetCondition : uint8_t { kAlways, kIfAbsent, kIfPresent, kIfEqual };

// The effect on the deadline. The last four have a time.
enum class ExpiryOption : uint8_t { kNone, kKeep, kPersist, kSeconds, kMilliseconds, kUnixSeconds, kUnixMilliseconds };

struct SetOptions {
  SetCondition condition = SetCondition::kAlways;
  Bytes expected = {};       // value required by kIfEqual
  bool returns_old = false;  // GET
  ExpiryOption expiry = ExpiryOption::kNone;
  Bytes time = {};  // as the client wrote it; parsed after all other options

  bool HasTime() const { return expiry >= ExpiryOption::kSeconds; }
  bool IsAbsolute() const { return expiry >= ExpiryOption::kUnixSeconds; }
};

// Parses [NX|XX|IFEQ value] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL], up to the last argument.
SetOptions ParseSetOptions(Call& call);
// Parses [EX s|PX ms|EXAT s|PXAT ms|PERSIST].
SetOptions ParseGetExOptions(Args& args);

// Returns the deadline of the options, or kNoDeadline without a time. Refuses times that are not positive or out of
// range.
int64_t DeadlineOf(const Call& call, const SetOptions& options);

}  // namespace respite
