// Parses the arguments of commands that set, read or remove deadlines of hash fields: HEXPIRE and its variants, HSETEX,
// HGETEX, HGETDEL. Their grammar and its errors differ between versions: see HashFieldGrammar.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/commands/common_arguments.h"
#include "server/execution/call.h"

namespace respite {

HashFieldGrammar GrammarOfFields(const Call& call);  // the grammar of the emulated version, or of replayed commands

// These functions take the arguments `FIELDS numfields field…`, which must be the last ones. They return the fields, or
// throw a Refusal.
std::span<const Bytes> TakeFieldNames(Call& call);    // takes the fields of HPERSIST or HGETDEL
std::span<const Bytes> TakeFieldsToRead(Call& call);  // takes the fields of HTTL or a variant

struct FieldExpireConditions {  // NX, XX, GT and LT of HEXPIRE and its variants
  bool only_without = false;    // NX: the field must have no deadline
  bool only_with = false;       // XX: the field must have a deadline
  bool only_later = false;      // GT: the new deadline must be later
  bool only_sooner = false;     // LT: the new deadline must be earlier, or the field have none
};

struct FieldExpireWords {            // the arguments of HEXPIRE and its variants after the key
  int64_t deadline_ms = 0;           // the new deadline, in Unix ms
  FieldExpireConditions conditions;  // which fields get the deadline
  std::span<const Bytes> fields;     // names of the fields
};
FieldExpireWords TakeFieldExpireWords(Call& call, TimeUnit unit, TimeBase base);  // takes all arguments of HEXPIRE …

enum class FieldExpiry : uint8_t { kNone, kKeep, kPersist, kAt };      // no option, KEEPTTL, PERSIST, or a time
enum class FieldCondition : uint8_t { kAlways, kIfNone, kIfAll };      // no option, FNX, FXX
enum class KeyCondition : uint8_t { kAlways, kIfAbsent, kIfPresent };  // no option, NX, XX

struct FieldTime {  // the value of EX, PX, EXAT or PXAT
  Bytes word;       // the number as the client wrote it
  TimeUnit unit = TimeUnit::kSeconds;
  TimeBase base = TimeBase::kNow;
};

struct FieldWords {                                    // the arguments of HGETEX or HSETEX after the key
  FieldCondition condition = FieldCondition::kAlways;  // FNX: no field may exist; FXX: all must exist
  KeyCondition key_condition = KeyCondition::kAlways;  // NX: the key must be absent; XX: it must exist
  FieldExpiry expiry = FieldExpiry::kNone;             // whether deadlines are set, kept or removed
  std::optional<FieldTime> time;                       // a time that deadline_ms does not have yet; nullopt: none
  int64_t deadline_ms = kNoDeadline;                   // Unix ms; kNoDeadline: none, or `time` is not read yet
  std::span<const Bytes> fields;                       // names of fields; for HSETEX each followed by its value
  // All arguments from the first field to the end of the request, which options may follow since Redis 8.6. As in
  // Redis, HSETEX then counts these options like values when it decides whether the hash leaves its listpack.
  std::span<const Bytes> fields_to_end;  // empty: options cannot follow the fields (Redis before 8.6, Valkey)
  void ReadDeadline(const Call& call);   // reads `time` if it was not read yet; throws if it is invalid
};
FieldWords TakeHGetExWords(Call& call);  // takes all arguments; throws a Refusal if they are invalid
FieldWords TakeHSetExWords(Call& call);  // takes all arguments; throws a Refusal if they are invalid

}  // namespace respite
