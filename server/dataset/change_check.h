// ChangeCheck: asserts that a command reports what it changes. It exists in builds with assertions only.
//
// An edit (edit.h) has one. It takes a print of the value when the edit opens and when it closes:
//
//   the value is another one       the edit must have been Touched, and the change counted for the journals
//   only groups or IDs changed     the change must have been counted; it is no part of what WATCH looks at
//   the command was refused        nothing may have changed: a refusal leaves no trace
//
// Of large values only the size is compared. What KeyEdit replaces is noted at once, at any size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "server/dataset/unit.h"

namespace respite {

#ifdef NDEBUG

class ChangeCheck {
 public:
  ChangeCheck(Unit&, int, Bytes, const Entry*) {}
  void Created() {}
  void Changed() {}
  void Reported() {}
  void LeaveUnreported() {}
  void Close() {}
};

#else

// A fingerprint of a value.
struct ValuePrint {
  ValuePrint() = default;  // of an absent key
  explicit ValuePrint(const Entry& entry);

  bool HasValueOf(const ValuePrint& other) const;
  bool operator==(const ValuePrint& other) const;

  bool exists = false;
  ValueType type = ValueType::kString;
  int64_t deadline_ms = kNoDeadline;
  size_t size = 0;                     // elements, or bytes of a string
  std::optional<std::string> content;  // a digest; none: too large
  std::optional<std::string> groups;   // of a stream, with the IDs it knows; none: too large
};

class ChangeCheck {
 public:
  // `found` is the entry of `key` before the edit. `key` must outlive this object.
  ChangeCheck(Unit& unit, int db, Bytes key, const Entry* found);
  ChangeCheck(const ChangeCheck&) = delete;
  ChangeCheck& operator=(const ChangeCheck&) = delete;

  // The edit created the key; listeners were told already.
  void Created() { created_ = true; }
  // The edit gave the key a value or a deadline, which may be equal to what it had.
  void Changed() { changed_ = true; }
  void Reported() { reported_ = true; }
  // The change is left unreported on purpose.
  void LeaveUnreported() { closed_ = true; }
  // Compares, and aborts if a change was not reported. Checks nothing afterwards.
  void Close();

 private:
  Unit& unit_;
  const int db_;
  const Bytes key_;
  const ValuePrint before_;
  const uint64_t changes_before_;
  const int exceptions_before_;
  bool created_ = false;
  bool changed_ = false;
  bool reported_ = false;
  bool closed_ = false;
};

#endif

}  // namespace respite
