#include "server/catalogue/dialect.h"

#include <algorithm>

#include "base/bytes.h"
#include "server/catalogue/command_spec.h"

namespace respite {

namespace {

// Returns the row of the command, or null. Cost: O(rows), for COMMAND and the start of a server only.
template <class Row>
const Row* Find(std::span<const Row> rows, std::string_view command) {
  const auto found = std::ranges::find(rows, command, &Row::command);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

uint32_t Dialect::AdjustFlags(std::string_view command, uint32_t spec_flags) const {
  const FlagChange* change = Find(commands.flags, command);
  return change == nullptr ? spec_flags : (spec_flags | change->added) & ~change->removed;
}

uint32_t Dialect::HiddenFlags(std::string_view command) const {
  const FlagChange* change = Find(commands.flags, command);
  return change == nullptr ? 0 : change->hidden;
}

bool Dialect::Deprecates(std::string_view command, const VersionMark& mark) const {
  return !mark.IsEmpty() && mark.IsIn(version.value_or(kDefaultVersion)) &&
         std::ranges::find(commands.revived, command) == commands.revived.end();
}

std::string_view Dialect::ShownVersion(const VersionMark& mark) const {
  return version ? mark.ShownBy(version->family) : mark.Shown();
}

KeySpecs Dialect::AdjustKeys(std::string_view command, const KeySpecs& spec_keys) const {
  KeySpecs keys = spec_keys;
  for (const KeyFlagChange& change : commands.key_flags) {
    if (change.command != command) continue;
    uint16_t& flags = keys.specs[change.key_spec].flags;
    flags = static_cast<uint16_t>((flags | change.added) & ~change.removed);
  }
  return keys;
}

std::string_view Dialect::ShownTips(std::string_view command, std::string_view spec_tips) const {
  const TextChange* change = Find(commands.tips, command);
  return change == nullptr ? spec_tips : change->text;
}

std::string_view Dialect::ShownSince(std::string_view command, const VersionMark& mark) const {
  const TextChange* change = Find(commands.since, command);
  return change == nullptr ? ShownVersion(mark) : change->text;
}

bool Dialect::IsSystemCommand(std::string_view command) const {
  return std::ranges::find(commands.system, command) != commands.system.end();
}

uint32_t Dialect::DeclaredCategories(std::string_view command, uint32_t spec_categories) const {
  const CategoryChange* change = Find(commands.categories, command);
  return change == nullptr ? spec_categories : change->declared_categories;
}

const TokenChange* Dialect::FindTokenChange(std::string_view command, std::string_view token) const {
  const auto found = std::ranges::find_if(
      commands.tokens, [&](const TokenChange& change) { return change.command == command && change.token == token; });
  return found == commands.tokens.end() ? nullptr : &*found;
}

const LegacyKeysChange* Dialect::FindLegacyKeys(std::string_view command) const {
  return Find(commands.legacy_keys, command);
}

std::optional<Emulated> ParseEmulatedVersion(std::string_view name) {
  const std::span<const Dialect> dialects = AllDialects();
  for (size_t i = 1; i < dialects.size(); ++i) {
    if (EqualsIgnoreCase(dialects[i].name, name)) return static_cast<Emulated>(i);
  }
  return std::nullopt;
}

std::string EmulatedNames() {
  std::string names;
  for (const Dialect& dialect : AllDialects().subspan(1)) {
    if (!names.empty()) names += ", ";
    names += dialect.name;
  }
  return names;
}

}  // namespace respite
