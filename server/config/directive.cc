#include "server/config/directive.h"

#include "base/memory_text.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/config/value_text.h"

namespace respite {
namespace {

// The maximum length of an error text that lists the permitted values, in bytes. As in Redis, a longer text is cut.
constexpr size_t kMaxChoiceObjectionBytes = 255;

std::string BoundText(int64_t bound, const NumberShape& shape) {
  if (shape.format == NumberFormat::kOctal) {
    std::string digits;
    for (auto rest = static_cast<uint64_t>(bound); rest > 0; rest /= 8)
      digits.insert(0, 1, static_cast<char>('0' + rest % 8));
    return digits.empty() ? "0" : digits;
  }
  if (shape.signedness == Signedness::kUnsigned) return std::to_string(static_cast<uint64_t>(bound));
  return std::to_string(bound);
}

bool IsInRange(int64_t value, const NumberShape& shape) {
  if (shape.signedness == Signedness::kSigned) return value >= shape.lowest && value <= shape.highest;
  const auto bits = static_cast<uint64_t>(value);
  return bits >= static_cast<uint64_t>(shape.lowest) && bits <= static_cast<uint64_t>(shape.highest);
}

Objection CheckRange(int64_t value, const NumberShape& shape) {
  if (IsInRange(value, shape)) return {};
  if (shape.format == NumberFormat::kMemoryOrPercent && value < 0) {
    return StrCat("percentage argument must be less or equal to ", -shape.lowest);
  }
  return "argument must be between " + BoundText(shape.lowest, shape) + " and " + BoundText(shape.highest, shape) +
         " inclusive";
}

std::optional<int64_t> ParsePercent(Bytes text) {
  if (text.size() < 2 || text.back() != '%') return {};
  text.remove_suffix(1);
  std::optional<int64_t> percent = ParseInteger(text);
  if (!percent || *percent < 0) return {};
  return -*percent;
}

std::optional<int64_t> ParseMemoryBits(Bytes text) {
  std::optional<uint64_t> bytes = ParseMemory(text);
  if (!bytes) return {};
  return static_cast<int64_t>(*bytes);
}

std::optional<int64_t> ParseNumber(const std::string& text, NumberFormat format) {
  switch (format) {
    case NumberFormat::kInteger:
      return ParseInteger(text);
    case NumberFormat::kMemory:
      return ParseMemoryBits(text);
    case NumberFormat::kOctal:
      return ParseLooseInteger(text, 8);
    case NumberFormat::kMemoryOrPercent:
      break;
  }
  std::optional<int64_t> bytes = ParseMemoryBits(text);
  return bytes ? bytes : ParsePercent(text);
}

const char* UnreadableNumber(NumberFormat format) {
  switch (format) {
    case NumberFormat::kMemory:
      return "argument must be a memory value";
    case NumberFormat::kMemoryOrPercent:
      return "argument must be a memory or percent value";
    case NumberFormat::kOctal:
      return "argument couldn't be parsed as an octal number";
    case NumberFormat::kInteger:
      break;
  }
  return "argument couldn't be parsed into an integer";
}

// Returns the value that the words name, or nullopt if a word is not permitted, or if there are no words. The values of
// several words are combined by OR, as in Redis; only a directive with kMultiArgument gets several words.
std::optional<int> ParseChoice(const ChoiceShape& shape, ConfigWords words, const Dialect& dialect) {
  if (words.empty()) return {};
  int value = 0;
  for (const std::string& word : words) {
    const ChoiceName* found = nullptr;
    for (const ChoiceName& choice : shape.names) {
      if (EqualsIgnoreCase(word, choice.name) && dialect.Has(choice.since)) found = &choice;
    }
    if (found == nullptr) return {};
    value |= found->value;
  }
  return value;
}

// Returns the error for a value that is not permitted. The error lists the permitted values of the emulated version.
// Without `emulate`, the error lists the values of Redis 7.2, although newer values are also accepted.
std::string ChoiceObjection(const ChoiceShape& shape, const Dialect& dialect) {
  const ServerVersion version = dialect.version.value_or(kDefaultVersion);
  std::string text;
  for (const ChoiceName& choice : shape.names) {
    if (choice.since.IsIn(version)) text += (text.empty() ? "" : ", ") + std::string(choice.name);
  }
  const std::string argument = dialect.traits.config_set_has_old_errors ? "argument" : "argument(s)";
  text.insert(0, argument + " must be one of the following: ");
  if (text.size() > kMaxChoiceObjectionBytes) text.resize(kMaxChoiceObjectionBytes);
  return text;
}

std::string ChoiceText(const ChoiceShape& shape, int value) {
  for (const ChoiceName& choice : shape.names) {
    if (choice.value == value) return std::string(choice.name);
  }
  std::string text;
  for (const ChoiceName& choice : shape.names) {
    if (choice.value != 0 && (choice.value & value) == choice.value)
      text += (text.empty() ? "" : " ") + std::string(choice.name);
  }
  return text;
}

// Parses the words and stores the value of a directive. For std::visit, there is one overload for each shape (type of
// directive).
struct Assigner {
  Settings& settings;
  ConfigWords words;
  ConfigOrigin origin;

  Objection operator()(const YesNoShape& shape) const {
    const bool yes = EqualsIgnoreCase(words[0], "yes");
    if (!yes && !EqualsIgnoreCase(words[0], "no")) return "argument must be 'yes' or 'no'";
    shape.set(settings, yes);
    return {};
  }

  Objection operator()(const NumberShape& shape) const {
    std::optional<int64_t> value = ParseNumber(words[0], shape.format);
    if (!value) return UnreadableNumber(shape.format);
    if (Objection objection = CheckRange(*value, shape)) return objection;
    if (shape.check != nullptr) {
      if (Objection objection = shape.check(*value)) return objection;
    }
    shape.set(settings, *value);
    return {};
  }

  Objection operator()(const TextShape& shape) const {
    if (shape.check != nullptr) {
      if (Objection objection = shape.check(words[0])) return objection;
    }
    shape.set(settings, words[0]);
    return {};
  }

  Objection operator()(const ChoiceShape& shape) const {
    const Dialect& dialect = DialectOf(settings.emulate);
    std::optional<int> value = ParseChoice(shape, words, dialect);
    if (!value) return ChoiceObjection(shape, dialect);
    if (shape.check != nullptr) {
      if (Objection objection = shape.check(*value)) return objection;
    }
    shape.set(settings, *value);
    return {};
  }

  Objection operator()(const SpecialShape& shape) const { return shape.assign(settings, words, origin); }
};

struct Printer {
  const Settings& settings;

  std::string operator()(const YesNoShape& shape) const { return shape.get(settings) ? "yes" : "no"; }
  std::string operator()(const NumberShape& shape) const {
    const int64_t value = shape.get(settings);
    if (shape.format == NumberFormat::kMemoryOrPercent && value < 0) return StrCat(-value, '%');
    return BoundText(value, shape);
  }
  std::string operator()(const TextShape& shape) const { return shape.get(settings); }
  std::string operator()(const ChoiceShape& shape) const { return ChoiceText(shape, shape.get(settings)); }
  std::string operator()(const SpecialShape& shape) const { return shape.text(settings); }
};

// Returns the value as CONFIG REWRITE writes it: as CONFIG GET shows it, but texts are quoted, and numbers of bytes
// have a unit (64mb).
std::string ValueInFile(const Directive& directive, const Settings& settings) {
  std::string text = ValueText(directive, settings);
  if (std::holds_alternative<TextShape>(directive.shape)) return Quoted(text);
  if (const auto* number = std::get_if<NumberShape>(&directive.shape)) {
    const bool is_memory = number->format == NumberFormat::kMemory || number->format == NumberFormat::kMemoryOrPercent;
    if (is_memory && !text.ends_with('%')) return FormatMemoryWithUnit(static_cast<uint64_t>(number->get(settings)));
  }
  return text;
}

}  // namespace

Objection Assign(const Directive& directive, Settings& settings, ConfigWords words, ConfigOrigin origin) {
  return std::visit(Assigner{settings, words, origin}, directive.shape);
}

std::string ValueText(const Directive& directive, const Settings& settings) {
  return std::visit(Printer{settings}, directive.shape);
}

FileLines DirectiveFileLines(const Directive& directive, const Settings& settings) {
  if (const auto* special = std::get_if<SpecialShape>(&directive.shape)) {
    return special->file_lines(directive.PortableName(), settings);
  }
  const std::string text = ValueText(directive, settings);
  const auto* text_shape = std::get_if<TextShape>(&directive.shape);
  if (text_shape != nullptr && text_shape->when_empty == WhenEmpty::kUnset && text.empty()) return {};
  const LinePresence presence =
      text == ValueText(directive, Settings{}) ? LinePresence::kIfMentioned : LinePresence::kAlways;
  return {{std::string(directive.PortableName()) + ' ' + ValueInFile(directive, settings), presence}};
}

bool Directive::IsKnownAs(std::string_view given, const Dialect& dialect) const {
  if (!dialect.Has(since) || dialect.HasRemoved(until)) return false;
  return given != name || dialect.Has(renamed_since);
}

std::string_view Directive::PortableName() const { return renamed_since.IsIn(kDefaultVersion) ? name : alias; }

bool Directive::IsHidden(const Dialect& dialect) const {
  if (Has(directive_flags::kUnlisted)) return true;
  if (!Has(directive_flags::kHidden)) return false;
  if (!dialect.EmulatesVersion()) return true;
  return unlisted_since.IsEmpty() ? since.IsEmpty() : dialect.HasRemoved(unlisted_since);
}

}  // namespace respite
