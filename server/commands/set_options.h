// The options of SET and GETEX; SETNX, SETEX, PSETEX are SET with options of their own.
#pragma once

#include <cstdint>

#include "server/execution/call.h"

namespace respite {

enum class SetCondition : uint8_t { kAlways, kIfAbsent, kIfPresent };

// What becomes of the deadline. The last four carry a time.
enum class ExpiryOption : uint8_t { kNone, kKeep, kPersist, kSeconds, kMilliseconds, kUnixSeconds, kUnixMilliseconds };

struct SetOptions {
  SetCondition condition = SetCondition::kAlways;
  bool returns_old = false;  // GET
  ExpiryOption expiry = ExpiryOption::kNone;
  Bytes time = {};  // as the client wrote it: it is looked at after all other syntax

  bool HasTime() const { return expiry >= ExpiryOption::kSeconds; }
  bool IsAbsolute() const { return expiry >= ExpiryOption::kUnixSeconds; }
};

// [NX|XX] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL], to the end of the words. In a record also IFEQ value, which is
// skipped.
SetOptions ParseSetOptions(Call& call);
// [EX s|PX ms|EXAT s|PXAT ms|PERSIST]
SetOptions ParseGetExOptions(Args& args);

// The deadline that the options ask for, kNoDeadline without a time. Refuses what is not a positive time in range.
int64_t DeadlineOf(const Call& call, const SetOptions& options);

}  // namespace respite
