// Functions that make the rows of the table of directives. Included only by directives_*.cc, which contain the rows,
// and by directive_table.cc, which joins them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "server/config/directive.h"

namespace respite::rows {

using enum SupportLevel;
using namespace directive_flags;  // NOLINT: rows use all of them

inline constexpr int64_t kMinInt = std::numeric_limits<int32_t>::min();
inline constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kMaxUint = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kMaxLong = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kMaxUnsignedLong = -1;  // the bits of the largest uint64_t

template <auto kMember>
using MemberType = std::remove_reference_t<decltype(std::declval<Settings&>().*kMember)>;

template <auto kMember>
constexpr YesNoShape YesNo() {  // a directive with values yes and no: a bool member of Settings
  return {[](const Settings& settings) { return settings.*kMember; },
          [](Settings& settings, bool value) { settings.*kMember = value; }};
}

template <auto kMember>
constexpr NumberShape NumberOf(int64_t lowest, int64_t highest, NumberFormat format,  // a number, stored in Settings
                               Objection (*check)(int64_t) = nullptr) {
  using Type = MemberType<kMember>;
  return {[](const Settings& settings) { return static_cast<int64_t>(settings.*kMember); },
          [](Settings& settings, int64_t value) { settings.*kMember = static_cast<Type>(value); },
          lowest,
          highest,
          format,
          std::is_unsigned_v<Type> ? Signedness::kUnsigned : Signedness::kSigned,
          check};
}

template <auto kMember>
constexpr NumberShape Number(int64_t lowest, int64_t highest,  // a number without a unit
                             Objection (*check)(int64_t) = nullptr) {
  return NumberOf<kMember>(lowest, highest, NumberFormat::kInteger, check);
}
template <auto kMember>
constexpr NumberShape Memory(int64_t lowest, int64_t highest) {  // a number of bytes, also "64mb"
  return NumberOf<kMember>(lowest, highest, NumberFormat::kMemory);
}
template <auto kMember>
constexpr NumberShape MemoryOrPercent(int64_t lowest, int64_t highest) {  // bytes, or a percentage: "5%", stored as -5
  return NumberOf<kMember>(lowest, highest, NumberFormat::kMemoryOrPercent);
}
template <auto kMember>
constexpr NumberShape Octal(int64_t lowest, int64_t highest) {  // file mode bits in octal, such as 700
  return NumberOf<kMember>(lowest, highest, NumberFormat::kOctal);
}

template <auto kMember>
constexpr TextShape TextShapeOf(WhenEmpty when_empty, Objection (*check)(Bytes)) {  // the TextShape of member kMember
  return {[](const Settings& settings) -> const std::string& { return settings.*kMember; },
          [](Settings& settings, std::string value) { settings.*kMember = std::move(value); }, when_empty, check};
}

template <auto kMember>
constexpr TextShape Text(Objection (*check)(Bytes) = nullptr) {  // a text that may be empty
  return TextShapeOf<kMember>(WhenEmpty::kKept, check);
}

template <auto kMember>
constexpr TextShape OptionalText(Objection (*check)(Bytes) = nullptr) {  // a text; an empty one means "none"
  return TextShapeOf<kMember>(WhenEmpty::kUnset, check);
}

template <auto kMember>
constexpr ChoiceShape Choice(std::span<const ChoiceName> names,  // a directive whose value is one of `names`
                             Objection (*check)(int) = nullptr) {
  using Type = MemberType<kMember>;
  return {[](const Settings& settings) { return static_cast<int>(settings.*kMember); },
          [](Settings& settings, int value) { settings.*kMember = static_cast<Type>(value); }, names, check};
}

template <typename Enum>
constexpr ChoiceName Named(std::string_view name, Enum value, VersionMark since = {}) {  // makes a ChoiceName
  return {name, static_cast<int>(value), since};
}

// Returns the row, marked as a directive that exists since this version, for example `Since("7.2.0", {"locale-collate",
// …})`.
constexpr Directive Since(VersionMark mark, Directive row) {  // returns `row`, which exists since version `mark`
  row.since = mark;
  return row;
}
constexpr Directive Until(VersionMark mark, Directive row) {  // returns `row`, which is gone since version `mark`
  row.until = mark;
  return row;
}
constexpr Directive MutableSince(VersionMark mark, Directive row) {  // CONFIG SET may change it since this version
  row.mutable_since = mark;
  return row;
}
constexpr Directive UnlistedSince(VersionMark mark, Directive row) {  // since then, patterns of CONFIG GET skip it
  row.unlisted_since = mark;
  return row;
}
constexpr Directive RenamedIn(VersionMark mark, Directive row) {  // older versions know only the row's alias
  row.renamed_since = mark;
  return row;
}

std::span<const Directive> NetworkDirectives();      // all directives about connections and clients
std::span<const Directive> ProcessDirectives();      // all directives about the process, log and limits
std::span<const Directive> KeyspaceDirectives();     // all directives about keys and memory
std::span<const Directive> PersistenceDirectives();  // all directives about RDB and AOF files
std::span<const Directive> ReplicationDirectives();  // all directives about replication
std::span<const Directive> ClusterDirectives();      // all directives about cluster mode
std::span<const Directive> TlsDirectives();          // all directives about TLS

}  // namespace respite::rows
