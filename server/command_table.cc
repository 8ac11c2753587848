#include "server/command_table.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "server/key_finder.h"

namespace respite {
namespace {

constexpr std::array<std::string_view, 21> kAclCategoryNames = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting"};

// Fills in all that follows from the card. `parent` is where the container will stay.
Command MakeCommand(const CommandCard& card, const Command* parent) {
  const CommandSpec& spec = *card.spec;
  const CommandSyntax syntax = ParseSyntax(spec.syntax);
  const LegacyKeys legacy = LegacyKeysOf(spec.keys.View());
  Command command{.card = &card, .parent = parent, .arity = card.arity, .flags = spec.flags};
  command.full_name = parent ? parent->full_name + "|" + ToLower(syntax.name) : ToLower(syntax.name);
  command.movable_keys = legacy.movable;
  command.categories = CategoriesOf(spec);
  command.first_key = legacy.first;
  command.last_key = legacy.last;
  command.key_step = legacy.step;
  command.prefetch_key_index = PrefetchKeyIndex(spec.keys.View());
  return command;
}

std::string_view LastPart(std::string_view full_name) { return full_name.substr(full_name.find('|') + 1); }

}  // namespace

uint32_t CategoriesOf(const CommandSpec& spec) {
  uint32_t all = spec.categories;
  if (spec.flags & kWrite) all |= kAclWrite;
  // Redis: what scripts read is checked when they read it.
  if ((spec.flags & kReadOnly) && !(all & kAclScripting)) all |= kAclRead;
  if (spec.flags & kAdmin) all |= kAclAdmin | kAclDangerous;
  if (spec.flags & kPubSub) all |= kAclPubSub;
  if (spec.flags & kFast) all |= kAclFast;
  if (spec.flags & kBlocking) all |= kAclBlocking;
  return all & kAclFast ? all : all | kAclSlow;
}

std::span<const std::string_view> AclCategoryNames() { return kAclCategoryNames; }

uint32_t AclCategoryByName(Bytes name) {
  for (size_t bit = 0; bit < kAclCategoryNames.size(); ++bit)
    if (EqualsIgnoreCase(kAclCategoryNames[bit], name)) return 1u << bit;
  return 0;
}

CommandTable::CommandTable(std::span<const std::span<const CommandCard>> families) {
  size_t count = 0;
  for (const auto& family : families) count += family.size();
  commands_.reserve(count);  // commands stay where they are from here on
  visible_.reserve(count);
  names_.reserve(count);
  for (const auto& family : families)
    for (const CommandCard& card : family) AddCommand(card);
  RebuildSlots();
}

void CommandTable::AddCommand(const CommandCard& card) {
  Command& command = commands_.emplace_back(MakeCommand(card, nullptr));
  command.name = command.full_name;
  command.id = static_cast<uint32_t>(stats_.size());
  stats_.emplace_back();
  command.subcommands.reserve(card.subcommands.size());
  for (const CommandCard& sub_card : card.subcommands) {
    Command& sub = command.subcommands.emplace_back(MakeCommand(sub_card, &command));
    sub.name = LastPart(sub.full_name);
    sub.id = static_cast<uint32_t>(stats_.size());
    stats_.emplace_back();
  }
  visible_.push_back(&command);
  names_.push_back(std::make_unique<const std::string>(command.full_name));
}

void CommandTable::RebuildSlots() {
  const size_t size = std::bit_ceil(std::max<size_t>(visible_.size() * 4, 8));
  slots_.assign(size, Slot{});
  shift_ = 64 - std::countr_zero(size);
  for (size_t i = 0; i < visible_.size(); ++i) Insert(*names_[i], *visible_[i]);
}

void CommandTable::Insert(std::string_view name, const Command& command) {
  assert(!Find(name) && "two cards have the same name");
  const Key key(name);
  size_t at = key.Hash(shift_);
  while (slots_[at].command) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {key, &command, name};
}

const Command* CommandTable::FindSub(const Command& container, Bytes name) const {
  for (const Command& sub : container.subcommands)
    if (EqualsIgnoreCase(sub.name, name)) return &sub;
  return nullptr;
}

const Command* CommandTable::FindFull(Bytes full_name) const {
  const size_t bar = full_name.find('|');
  const Command* command = Find(full_name.substr(0, bar));
  if (!command || bar == Bytes::npos) return command;
  return FindSub(*command, full_name.substr(bar + 1));
}

RenameResult CommandTable::Rename(Bytes from, Bytes to) {
  const Command* command = Find(from);
  if (!command) return RenameResult::kNoSuchCommand;
  const auto at = std::ranges::find(visible_, command) - visible_.begin();
  if (const Command* taken = Find(to); taken && taken != command) return RenameResult::kTargetExists;
  if (to.empty()) {
    visible_.erase(visible_.begin() + at);
    names_.erase(names_.begin() + at);
  } else {
    names_[static_cast<size_t>(at)] = std::make_unique<const std::string>(ToLower(to));
  }
  renamed_.emplace(command->full_name, command);
  RebuildSlots();
  return RenameResult::kDone;
}

const Command* CommandTable::Renamed(Bytes name) const {
  const auto found = renamed_.find(ToLower(name));
  return found == renamed_.end() ? nullptr : found->second;
}

void CommandTable::ResetStats() {
  for (CommandStats& stats : stats_) stats.Reset();
}

}  // namespace respite
