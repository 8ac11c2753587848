// ChangeCheck: asserts that a command reports its changes. It exists only in builds with assertions.
//
// Each edit (edit.h) has a ChangeCheck, which compares fingerprints of the value when the edit opens and closes:
//
// * If the value or deadline changed, the edit must have called ReportChange, and Unit::ChangeCount must have grown.
// * If only consumer groups or stored IDs of a stream changed, or only the insert cursor of an array,
//   Unit::ChangeCount must have grown. ReportChange is not needed, because WATCH ignores these changes.
// * If the command was refused, nothing may have changed.
//
// For large values only the size is compared. KeyEdit tells the check when it replaces a value, so replacements are
// checked at any size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "server/dataset/unit.h"

namespace respite {

#ifdef NDEBUG

class ChangeCheck {  // the version for builds without assertions: every function does nothing
 public:
  ChangeCheck(Unit&, int, Bytes, const Entry*) {}
  void NoteCreated() {}         // the edit has created the key
  void NoteChanged() {}         // the edit has set or removed the value or the deadline
  void NoteReported() {}        // does nothing; with assertions: notes that the change was reported
  void DisableChangeCheck() {}  // turns the check off
  void Close() {}               // does nothing; with assertions: checks that changes were reported
};

#else

struct ValuePrint {        // a fingerprint of a key's value and deadline
  ValuePrint() = default;  // the fingerprint of an absent key
  explicit ValuePrint(const Entry& entry);

  bool HasValueOf(const ValuePrint& other) const;  // true: the same value; ignores `groups`
  bool operator==(const ValuePrint& other) const;

  bool exists = false;
  ValueType type = ValueType::kString;
  int64_t deadline_ms = kNoDeadline;   // Unix time
  size_t size = 0;                     // elements, or bytes of a string
  std::optional<std::string> content;  // digest of the value; nullopt: the value is too large
  std::optional<std::string>
      groups;  // consumer groups and stored IDs of a stream, cursor of an array; nullopt if too large
};

class ChangeCheck {
 public:
  // `found` is the entry of `key` before the edit. `key` must outlive this object.
  ChangeCheck(Unit& unit, int db, Bytes key, const Entry* found);
  ChangeCheck(const ChangeCheck&) = delete;
  ChangeCheck& operator=(const ChangeCheck&) = delete;

  // Called when the edit has created the key and has already notified listeners of the new key.
  void NoteCreated() { has_created_key_ = true; }
  // Must be called when the edit has removed the key, replaced its whole value or set its deadline, even to an equal
  // one. Changes within a value need no call.
  void NoteChanged() { has_changed_value_ = true; }
  void NoteReported() { has_reported_change_ = true; }
  // Turns this check off, for a change that the command does not report on purpose.
  void DisableChangeCheck() { is_closed_ = true; }
  // Compares the value with the value before the edit. Aborts if a change was not reported or counted, or if a refused
  // command changed the key. Later calls do nothing.
  void Close();

 private:
  Unit& unit_;
  const int db_;
  const Bytes key_;
  const ValuePrint before_;           // fingerprint of the key before the edit
  const uint64_t changes_before_;     // Unit::ChangeCount before the edit
  const int exceptions_before_;       // std::uncaught_exceptions before the edit
  bool has_created_key_ = false;      // the edit created the key, and listeners were notified
  bool has_changed_value_ = false;    // the edit gave the key a value or deadline, or removed the key
  bool has_reported_change_ = false;  // the command reported a change of the key
  bool is_closed_ = false;            // Close was called, or the check is suppressed
};

#endif

}  // namespace respite
