// Directive: one row of the table of directives, and what can be done with the value that it names: assign it from
// words, print it for CONFIG GET, print the lines that restore it for CONFIG REWRITE.
//
// The rows stand in directives_*.cc, one file per subject, sorted by name. To add a directive: a member in Settings
// with its default, and a row. Everything else (parsing, ranges, GET, SET, REWRITE, the table checks in tests) follows
// from the row. The default of a directive is the value that its member has in a fresh Settings: it is written down
// nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "server/config/settings.h"

namespace respite {

using ConfigWords = std::span<const std::string>;

// Why a value was refused, as Redis words it; nothing when it was taken.
using Objection = std::optional<std::string>;

// Redis: values of several words add up over the lines of a file (`save`), but replace each other in CONFIG SET.
enum class ConfigOrigin : uint8_t { kStartup, kConfigSet };

enum class SupportLevel : uint8_t {
  kEffective,    // takes effect
  kStored,       // its feature is still to come: checked, stored and reported
  kMeaningless,  // nothing here to steer: checked, stored and reported
};

// Flags of a directive.
namespace directive_flags {
inline constexpr uint32_t kNoFlags = 0;
inline constexpr uint32_t kImmutable = 1U << 0;      // only at startup
inline constexpr uint32_t kProtected = 1U << 1;      // CONFIG SET only when enable-protected-configs says so
inline constexpr uint32_t kSensitive = 1U << 2;      // kept out of logs, SLOWLOG and MONITOR
inline constexpr uint32_t kHidden = 1U << 3;         // CONFIG GET shows it by its full name only, never for a pattern
inline constexpr uint32_t kDebug = 1U << 4;          // worth printing in a crash report
inline constexpr uint32_t kMultiArgument = 1U << 5;  // takes any number of words; one quoted word is split again
inline constexpr uint32_t kDenyLoading = 1U << 6;    // CONFIG SET refuses while a dataset is loading
inline constexpr uint32_t kVolatile =
    1U << 7;  // setting the same value again counts as a change (files may be new, say)
}  // namespace directive_flags

enum class NumberFormat : uint8_t { kInteger, kMemory, kMemoryOrPercent, kOctal };
enum class Signedness : uint8_t { kSigned, kUnsigned };
enum class WhenEmpty : uint8_t { kKept, kUnset };  // kUnset: an empty text means "none" and is not written to the file

struct ChoiceName {
  std::string_view name;
  int value;
};

// What CONFIG REWRITE writes for one directive: no line at all means that none stays in the file.
enum class LinePresence : uint8_t { kAlways, kIfMentioned };  // kIfMentioned: only in the place of a line that is there

struct FileLine {
  std::string text;
  LinePresence presence;
};
using FileForm = std::vector<FileLine>;

struct YesNoShape {
  bool (*get)(const Settings&);
  void (*set)(Settings&, bool);  // NOLINT: the value itself
};

// Numbers travel as int64_t; for unsigned members it holds the same bits, and the bounds are compared unsigned.
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
  std::string_view alias = {};  // an older name, accepted and reported alike

  bool Has(uint32_t flag) const { return (flags & flag) != 0; }
};

// All directives, by subject. Cost: no allocation.
std::span<const std::span<const Directive>> DirectivesBySubject();

// The directive of this name or alias, in any case; null when there is none. Cost: O(directives), some microseconds.
const Directive* FindDirective(Bytes name);

// Gives the directive the value that the words say. On an objection the value is unspecified: assign to a copy.
Objection Assign(const Directive& directive, Settings& settings, ConfigWords words, ConfigOrigin origin);

// The value as CONFIG GET reports it.
std::string ValueText(const Directive& directive, const Settings& settings);

FileForm FormInFile(const Directive& directive, const Settings& settings);

}  // namespace respite
