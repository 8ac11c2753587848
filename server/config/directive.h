// Directive: one row of the table of directives, and the operations on its value: assign it from words, print it for
// CONFIG GET, print the lines that restore it for CONFIG REWRITE.
//
// The rows are in directives_*.cc, one file per subject, sorted by name. To add a directive, add a member with its
// default to Settings, and a row. Parsing, ranges, GET, SET, REWRITE and the table checks in tests follow from the row.
// The default of a directive is the value of its member in a new Settings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/version_mark.h"
#include "server/config/settings.h"

namespace respite {

struct Dialect;

using ConfigWords = std::span<const std::string>;

// Why a value was refused, in Redis' words; nullopt when it was accepted.
using Objection = std::optional<std::string>;

// Redis: the lines of a file add up for directives with several words (`save`); CONFIG SET replaces.
enum class ConfigOrigin : uint8_t { kStartup, kConfigSet };

enum class SupportLevel : uint8_t {
  kEffective,    // takes effect
  kMeaningless,  // checked, stored and reported; there is nothing to control here
};

// Flags of a directive.
namespace directive_flags {
inline constexpr uint32_t kNoFlags = 0;
inline constexpr uint32_t kImmutable = 1U << 0;      // only at startup
inline constexpr uint32_t kProtected = 1U << 1;      // CONFIG SET needs enable-protected-configs
inline constexpr uint32_t kSensitive = 1U << 2;      // not shown in logs, SLOWLOG and MONITOR
inline constexpr uint32_t kHidden = 1U << 3;         // CONFIG GET shows it for its full name only, not for a pattern
inline constexpr uint32_t kDebug = 1U << 4;          // printed in crash reports
inline constexpr uint32_t kMultiArgument = 1U << 5;  // takes any number of words; a single quoted word is split again
inline constexpr uint32_t kDenyLoading = 1U << 6;    // CONFIG SET is refused while a dataset is loading
inline constexpr uint32_t kVolatile =
    1U << 7;  // setting the same value again counts as a change, since files may be new
inline constexpr uint32_t kUnlisted = 1U << 8;  // kHidden in the versions that have it, too
}  // namespace directive_flags

enum class NumberFormat : uint8_t { kInteger, kMemory, kMemoryOrPercent, kOctal };
enum class Signedness : uint8_t { kSigned, kUnsigned };
enum class WhenEmpty : uint8_t { kKept, kUnset };  // kUnset: an empty text means "none" and is not written to the file

struct ChoiceName {
  std::string_view name;
  int value;
  VersionMark since = {};
};

// Whether CONFIG REWRITE writes a line. kIfMentioned: only in place of an existing line of this directive.
enum class LinePresence : uint8_t { kAlways, kIfMentioned };

struct FileLine {
  std::string text;
  LinePresence presence;
};
using FileForm = std::vector<FileLine>;

struct YesNoShape {
  bool (*get)(const Settings&);
  void (*set)(Settings&, bool);  // NOLINT: the value itself
};

// All integers are int64_t here; for unsigned members it holds the same bits, and bounds are compared unsigned.
struct NumberShape {
  int64_t (*get)(const Settings&);
  void (*set)(Settings&, int64_t);
  int64_t lowest;
  int64_t highest;
  NumberFormat format;
  Signedness signedness;
};

struct TextShape {
  const std::string& (*get)(const Settings&);
  void (*set)(Settings&, std::string);
  WhenEmpty when_empty;
  Objection (*check)(Bytes);  // may be null
};

struct ChoiceShape {
  int (*get)(const Settings&);
  void (*set)(Settings&, int);
  std::span<const ChoiceName> names;
  Objection (*check)(int);  // may be null
};

struct SpecialShape {
  Objection (*assign)(Settings&, ConfigWords, ConfigOrigin);
  std::string (*text)(const Settings&);
  FileForm (*file_form)(std::string_view name, const Settings&);
};

struct Directive {
  std::string_view name;
  SupportLevel support;
  std::variant<YesNoShape, NumberShape, TextShape, ChoiceShape, SpecialShape> shape;
  uint32_t flags = directive_flags::kNoFlags;
  std::string_view alias = {};     // an older name, accepted and reported too
  VersionMark since = {};          // which versions have it, under one of its names
  VersionMark until = {};          // which versions do not have it any more
  VersionMark renamed_since = {};  // which versions know its name; those before know the alias alone

  bool Has(uint32_t flag) const { return (flags & flag) != 0; }
  // Whether this version has it under this name, one of its two.
  bool IsKnownAs(std::string_view given, const Dialect& dialect) const;
  // The name of Redis 7.2, if it had the directive; else its own. For files that other versions may read.
  std::string_view CommonName() const;
  // Whether a pattern does not find it. What later versions have is hidden where they are not emulated.
  bool IsHidden(const Dialect& dialect) const;
};

// All directives, by subject. Cost: no allocation.
std::span<const std::span<const Directive>> DirectivesBySubject();

// Finds a directive by name or alias, in any case; returns null if there is none. Cost: O(directives), some
// microseconds.
const Directive* FindDirective(Bytes name);

// Assigns the value to the directive. After an objection the value is unspecified: assign to a copy.
Objection Assign(const Directive& directive, Settings& settings, ConfigWords words, ConfigOrigin origin);

// The value as CONFIG GET reports it.
std::string ValueText(const Directive& directive, const Settings& settings);

FileForm FormInFile(const Directive& directive, const Settings& settings);

}  // namespace respite
