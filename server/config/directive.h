// Directive: one row of the table of directives (directive_table.h). This file also declares the operations on its
// value: parse and store the value, print it for CONFIG GET, and print its lines for CONFIG REWRITE.
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

// Why a value was refused, in Redis' words; nullopt if the value was accepted.
using Objection = std::optional<std::string>;

// Where the value of a directive comes from. Only `save` treats the two differently. kStartup: a `save` line adds its
// save points to the earlier ones. kConfigSet: the new value replaces the old one. As in Redis, lines after an
// `include`, but not those of the included file, count as kConfigSet.
enum class ConfigOrigin : uint8_t { kStartup, kConfigSet };  // where a value comes from

enum class SupportLevel : uint8_t {  // whether a directive has an effect
  kEffective,                        // takes effect
  kMeaningless,                      // checked, stored and reported, but without effect in this server
};

// Flags of a directive. Each flag is a bit, and flags may be combined.
namespace directive_flags {
inline constexpr uint32_t kNoFlags = 0;
inline constexpr uint32_t kImmutable = 1U << 0;  // settable only at startup
inline constexpr uint32_t kProtected = 1U << 1;  // CONFIG SET needs enable-protected-configs
inline constexpr uint32_t kSensitive = 1U << 2;  // SLOWLOG and MONITOR do not show the value that CONFIG SET sets
inline constexpr uint32_t kHidden = 1U << 3;     // patterns of CONFIG GET skip it, unless an emulated version has it
inline constexpr uint32_t kDebug = 1U << 4;      // crash reports show the value
inline constexpr uint32_t kMultiArgument = 1U << 5;  // takes any number of words; a lone word is split again
inline constexpr uint32_t kDenyLoading = 1U << 6;    // CONFIG SET is refused while a dataset is loading
inline constexpr uint32_t kVolatile = 1U << 7;       // setting the same value again counts as a change
inline constexpr uint32_t kUnlisted = 1U << 8;       // patterns of CONFIG GET always skip the directive
}  // namespace directive_flags

enum class NumberFormat : uint8_t { kInteger, kMemory, kMemoryOrPercent, kOctal };  // how a number is written
enum class Signedness : uint8_t { kSigned, kUnsigned };
enum class WhenEmpty : uint8_t { kKept, kUnset };  // kUnset: an empty text means "none" and is not written to the file

struct ChoiceName {        // one permitted value of a directive, and its name
  std::string_view name;   // the value as the configuration file writes it
  int value;               // the value as a number of the enumeration in Settings
  VersionMark since = {};  // first versions that have this value
};

// When CONFIG REWRITE writes a line. kAlways: always; the line is added if the file has none for the directive.
// kIfMentioned: only to replace an existing line of the directive.
enum class LinePresence : uint8_t { kAlways, kIfMentioned };  // whether CONFIG REWRITE adds the line

struct FileLine {         // a line that CONFIG REWRITE writes to the file
  std::string text;       // the whole line
  LinePresence presence;  // whether to add the line if the file has none of this directive
};
using FileLines = std::vector<FileLine>;

struct YesNoShape {              // how a directive with the values yes and no is read and stored
  bool (*get)(const Settings&);  // reads the value from the settings
  void (*set)(Settings&, bool);  // NOLINT: stores the value in the settings
};

// All integers are passed as int64_t. If the member of Settings is unsigned (kUnsigned), its 64 bits are passed
// unchanged, and `lowest` and `highest` are compared as unsigned numbers.
struct NumberShape {                      // how a directive with a number as value is read, stored and checked
  int64_t (*get)(const Settings&);        // reads the value from the settings
  void (*set)(Settings&, int64_t);        // stores a checked value in the settings
  int64_t lowest;                         // the smallest permitted value
  int64_t highest;                        // the largest permitted value
  NumberFormat format;                    // how the text is written: with a unit, a percent sign, or in octal
  Signedness signedness;                  // kUnsigned: the value and its range are unsigned numbers
  Objection (*check)(int64_t) = nullptr;  // returns why a number in the range is refused; null: no check
};

struct TextShape {                             // how a directive with a text as value is read, stored and checked
  const std::string& (*get)(const Settings&);  // reads the value from the settings
  void (*set)(Settings&, std::string);         // stores a checked value in the settings
  WhenEmpty when_empty;                        // whether an empty text is a value, or means "none"
  Objection (*check)(Bytes);                   // returns why a value is refused, or nullopt; null: no check
};

struct ChoiceShape {                  // how a directive whose value is one of a list is read, stored and checked
  int (*get)(const Settings&);        // reads the value from the settings
  void (*set)(Settings&, int);        // stores a checked value in the settings
  std::span<const ChoiceName> names;  // all permitted values and their names
  Objection (*check)(int);            // returns an error to refuse a value, else nullopt; null: any value is allowed
};

struct SpecialShape {                                         // how a directive with its own syntax is parsed and shown
  Objection (*assign)(Settings&, ConfigWords, ConfigOrigin);  // parses words, stores the value
  std::string (*text)(const Settings&);                       // the value as CONFIG GET shows it
  FileLines (*file_lines)(std::string_view name, const Settings&);  // lines for CONFIG REWRITE
};

struct Directive {        // one row in the table of directives
  std::string_view name;  // primary name of the directive, as in redis.conf
  SupportLevel support;   // whether the directive has an effect in this server
  std::variant<YesNoShape, NumberShape, TextShape, ChoiceShape, SpecialShape> shape;  // type of the value
  uint32_t flags = directive_flags::kNoFlags;                                         // bits of directive_flags
  std::string_view alias = {};     // an older name, which clients may also use; empty: none
  VersionMark since = {};          // first versions that have the directive, as `name` or as `alias`
  VersionMark until = {};          // first versions that no longer have the directive
  VersionMark mutable_since = {};  // first versions where CONFIG SET may change it, although it is kImmutable
  VersionMark renamed_since = {};  // first versions that know `name`; older ones know only `alias`
  VersionMark unlisted_since =
      {};  // first versions where patterns of CONFIG GET skip the directive; empty: see `flags`

  bool Has(uint32_t flag) const { return (flags & flag) != 0; }  // true: `flags` has this bit
  // Returns whether the version of this dialect knows the directive under the name `given`, which is the primary name
  // or the alias.
  bool IsKnownAs(std::string_view given, const Dialect& dialect) const;  // true: `dialect` has the name `given`
  // Returns the name to write to files that other versions may read: the name in Redis 7.2. This is the alias if 7.2
  // does not know the primary name.
  std::string_view PortableName() const;  // name in Redis 7.2, for files that other versions may read
  // Returns whether patterns of CONFIG GET must not match the directive. kHidden hides it, unless a version that has
  // and lists the directive is emulated. kUnlisted hides it always.
  bool IsHidden(const Dialect& dialect) const;  // true: patterns of CONFIG GET do not match the directive
};

// Parses the words and stores the value in `settings`. Returns nullopt on success, or why the value is refused. After a
// refusal the stored value is unspecified, so assign to a copy of the settings.
Objection Assign(const Directive& directive, Settings& settings,  // parses and stores the value, or says why not
                 ConfigWords words, ConfigOrigin origin);

std::string ValueText(const Directive& directive, const Settings& settings);  // the value as CONFIG GET shows it

FileLines DirectiveFileLines(const Directive& directive, const Settings& settings);  // the lines for CONFIG REWRITE

}  // namespace respite
