#include "server/catalogue/command_table.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"

namespace respite {
namespace {

constexpr std::array<std::string_view, 23> kAclCategoryNames = {
    "keyspace", "read",        "write",      "set",         "sortedset", "list",  "hash", "string",
    "bitmap",   "hyperloglog", "geo",        "stream",      "pubsub",    "admin", "fast", "slow",
    "blocking", "dangerous",   "connection", "transaction", "scripting", "array", "json"};

// The tokens (fixed words such as EX) of a command's syntax: `shown` if the emulated version has them, otherwise
// `hidden`. If the version lacks an argument, the tokens nested in the argument are also hidden.
struct Tokens {
  std::vector<std::string_view> shown = {};
  std::vector<std::string_view> hidden = {};
};

enum class Around : uint8_t { kShown, kHidden };  // whether the version has the argument around these arguments

void SortTokens(std::span<const SyntaxArgument> arguments, const Dialect& dialect, Around around, Tokens& tokens) {
  ForEachArgument(arguments, [&](const SyntaxArgument& argument, std::span<const SyntaxArgument> children) {
    const bool is_shown = around == Around::kShown && dialect.Has(argument.since);
    if (argument.HasToken()) (is_shown ? tokens.shown : tokens.hidden).push_back(argument.token);
    SortTokens(children, dialect, is_shown ? Around::kShown : Around::kHidden, tokens);
  });
}

// Returns the tokens (option words such as GT) of the command's syntax that the emulated version does not know, or null
// if it knows all. Args does not recognise them in requests. A token that belongs to several arguments is returned only
// if the version lacks all of them.
std::shared_ptr<const std::vector<std::string_view>> HiddenTokensOf(const CommandSpec& spec, const Dialect& dialect) {
  if (!dialect.EmulatesVersion()) return nullptr;
  Tokens tokens;
  SortTokens(ParseSyntax(spec.syntax).Arguments(), dialect, Around::kShown, tokens);
  std::erase_if(tokens.hidden,
                [&](std::string_view token) { return std::ranges::find(tokens.shown, token) != tokens.shown.end(); });
  if (tokens.hidden.empty()) return nullptr;
  return std::make_shared<const std::vector<std::string_view>>(std::move(tokens.hidden));
}

int ArityIn(const Dialect& dialect, const CommandCard& card) {
  const FormerArity& former = card.spec->former_arity;
  return dialect.Has(former.until) ? card.arity : former.arity;
}

// Returns the ACL category of a command group, or 0 if the group has no category of its own.
uint32_t CategoryOf(CommandGroup group) {
  switch (group) {
    case CommandGroup::kGeneric:
      return kAclKeyspace;
    case CommandGroup::kString:
      return kAclString;
    case CommandGroup::kList:
      return kAclList;
    case CommandGroup::kSet:
      return kAclSet;
    case CommandGroup::kSortedSet:
      return kAclSortedSet;
    case CommandGroup::kHash:
      return kAclHash;
    case CommandGroup::kTransactions:
      return kAclTransaction;
    case CommandGroup::kConnection:
      return kAclConnection;
    case CommandGroup::kScripting:
      return kAclScripting;
    case CommandGroup::kHyperLogLog:
      return kAclHyperLogLog;
    case CommandGroup::kGeo:
      return kAclGeo;
    case CommandGroup::kStream:
      return kAclStream;
    case CommandGroup::kBitmap:
      return kAclBitmap;
    case CommandGroup::kArray:
      return kAclArray;
    case CommandGroup::kModule:
      return kAclJson;
    case CommandGroup::kPubSub:
    case CommandGroup::kServer:
    case CommandGroup::kCluster:
    case CommandGroup::kSentinel:
      return 0;
  }
  return 0;
}

uint32_t CategoriesWith(const CommandCard& card, uint32_t flags, uint32_t declared) {
  if (flags & kOfModule) return 0;
  // A command that declares no categories gets the category of its group. A container such as CONFIG (whose `run` is
  // null) gets none; its subcommands get the category.
  uint32_t all = declared != 0 || card.run == nullptr ? declared : CategoryOf(card.spec->group);
  if (flags & kWrite) all |= kAclWrite;
  // As in Redis, EVAL_RO is not in @read. The commands of a script are checked when they run.
  if ((flags & kReadOnly) && !(all & kAclScripting)) all |= kAclRead;
  if (flags & kAdmin) all |= kAclAdmin | kAclDangerous;
  if (flags & kPubSub) all |= kAclPubSub;
  if (flags & kFast) all |= kAclFast;
  if (flags & kBlocking) all |= kAclBlocking;
  return all & kAclFast ? all : all | kAclSlow;
}

// Returns a command's full name, such as "GET" or "CLIENT|LIST". Does not parse the whole syntax line, because parsing
// all lines would take a fifth of the server's startup time.
std::string_view FullNameOf(const CommandCard& card) {
  const std::string_view syntax = card.spec->syntax;
  return syntax.substr(0, syntax.find(' '));
}

std::string_view LastPart(std::string_view full_name) { return full_name.substr(full_name.find('|') + 1); }

}  // namespace

uint32_t CategoriesOf(const CommandCard& card) { return CategoriesWith(card, card.spec->flags, card.spec->categories); }

std::span<const std::string_view> AclCategoryNames() { return kAclCategoryNames; }

std::vector<std::string_view> AclCategoryNamesIn(const Dialect& dialect) {
  // A server without the directive `emulate` counts as Redis 7.2.
  const auto has = [version = dialect.version.value_or(kDefaultVersion)](VersionMark since) {
    return since.IsIn(version);
  };
  std::vector<std::string_view> names(kAclCategoryNames.begin(), kAclCategoryNames.end());
  if (!has("8.8.0")) std::erase(names, "array");
  if (!has("8.0.0")) std::erase(names, "json");
  return names;
}

uint32_t AclCategoryByName(Bytes name) {
  for (size_t bit = 0; bit < kAclCategoryNames.size(); ++bit)
    if (EqualsIgnoreCase(kAclCategoryNames[bit], name)) return 1u << bit;
  return 0;
}

CommandSet::CommandSet(std::span<const std::span<const CommandCard>> families, Where where)
    : CommandSet(families, where, DialectOf(Emulated::kNone)) {}

CommandSet::CommandSet(std::span<const std::span<const CommandCard>> families, Where where, const Dialect& dialect)
    : where_(where), dialect_(dialect) {
  std::vector<const CommandCard*> cards;
  std::map<std::string_view, std::vector<const CommandCard*>> subcommands;  // by the name of the container
  size_t count = 0;
  for (const auto& family : families) {
    for (const CommandCard& card : family) {
      if (!IsForThisServer(card)) continue;
      (card.container.empty() ? cards : subcommands[card.container]).push_back(&card);
      ++count;
    }
  }
  for (auto& [container, its_cards] : subcommands)
    std::ranges::sort(its_cards, {}, [](const CommandCard* card) { return card->spec->syntax; });
  commands_.reserve(cards.size());  // commands must not move from here on
  CommandNames::Rows rows, hidden;
  for (const CommandCard* card : cards) {
    const auto found = subcommands.find(FullNameOf(*card));
    const Command& command =
        Add(*card, found == subcommands.end() ? std::span<const CommandCard* const>() : std::span(found->second));
    (dialect_.Has(card->spec->since) ? rows : hidden).emplace_back(command.full_name, &command);
  }
  assert(size_ == count && "the container of a subcommand is missing");
  names_ = std::make_unique<const CommandNames>(std::move(rows));
  hidden_names_ = std::make_unique<const CommandNames>(std::move(hidden));
}

Command CommandSet::Make(const CommandCard& card, const Command* parent) const {
  const CommandSpec& spec = *card.spec;
  const LegacyKeys legacy = LegacyKeysOf(spec.keys.View());
  Command command{.card = &card, .parent = parent, .arity = ArityIn(dialect_, card)};
  command.full_name = spec.flags & kOfModule ? std::string(FullNameOf(card)) : ToLower(FullNameOf(card));
  command.flags = dialect_.AdjustFlags(command.full_name, spec.flags);
  command.movable_keys = legacy.movable;
  command.categories =
      CategoriesWith(card, command.flags, dialect_.DeclaredCategories(command.full_name, spec.categories));
  command.first_key = legacy.first;
  command.last_key = legacy.last;
  command.key_step = legacy.step;
  if (const LegacyKeysChange* change = dialect_.FindLegacyKeys(command.full_name)) {
    command.first_key = change->first;
    command.last_key = change->last;
    command.key_step = change->step;
  }
  command.prefetch_key_index = PrefetchKeyIndex(spec.keys.View());
  command.only_key_index = OnlyKeyIndex(spec.keys.View());
  command.dialect = &dialect_;
  command.hidden_tokens = HiddenTokensOf(spec, dialect_);
  return command;
}

Command& CommandSet::Add(const CommandCard& card, std::span<const CommandCard* const> subcommands) {
  Command& command = commands_.emplace_back(Make(card, nullptr));
  command.name = command.full_name;
  command.id = size_++;
  command.subcommands.reserve(subcommands.size());
  command.hidden_subcommands.reserve(subcommands.size());
  for (const CommandCard* sub_card : subcommands) {
    const bool is_shown = dialect_.Has(sub_card->spec->since) && sub_card->spec->required_directive == nullptr;
    Command& sub =
        (is_shown ? command.subcommands : command.hidden_subcommands).emplace_back(Make(*sub_card, &command));
    sub.name = LastPart(sub.full_name);
    sub.id = size_++;
  }
  return command;
}

CommandNames::CommandNames(Rows rows) : rows_(std::move(rows)) {
  const size_t size = std::bit_ceil(std::max<size_t>(rows_.size() * 4, 8));
  slots_.assign(size, Slot{});
  shift_ = 64 - std::countr_zero(size);
  for (const auto& [name, command] : rows_) {
    Insert(name, *command);
    commands_.push_back(command);
  }
}

void CommandNames::Insert(std::string_view name, const Command& command) {
  assert(!Find(name) && "two cards have the same name");
  const Key key(name);
  size_t at = key.Hash(shift_);
  while (slots_[at].command) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {key, &command, name};
}

CommandTable::CommandTable(std::shared_ptr<const CommandSet> set)
    : set_(std::move(set)), names_(&set_->names()), stats_(set_->Size()) {}

namespace {

const Command* Named(const std::vector<Command>& subcommands, Bytes name) {
  const auto found =
      std::ranges::find_if(subcommands, [&](const Command& sub) { return EqualsIgnoreCase(sub.name, name); });
  return found == subcommands.end() ? nullptr : &*found;
}

}  // namespace

const Command* CommandTable::FindSubcommand(const Command& container, Bytes name) const {
  return Named(container.subcommands, name);
}

const Command* CommandTable::FindOptionalSubcommand(const Command& container, Bytes name) const {
  const Command* const found = Named(container.hidden_subcommands, name);
  return found != nullptr && found->Spec().required_directive != nullptr ? found : nullptr;
}

const Command* CommandTable::FindForReplay(std::span<const Bytes> words) const {
  const Command* command = set_->hidden_names().Find(words[0]);
  if (command == nullptr) command = set_->names().Find(words[0]);
  const bool has_subcommands =
      command != nullptr && !(command->subcommands.empty() && command->hidden_subcommands.empty());
  if (!has_subcommands || words.size() < 2) return command;
  const Command* const sub = Named(command->subcommands, words[1]);
  return sub == nullptr ? Named(command->hidden_subcommands, words[1]) : sub;
}

const Command* CommandTable::FindByFullName(Bytes full_name) const { return FindByFullNameIn(*names_, full_name); }

const Command* CommandTable::FindByOriginalName(Bytes full_name) const {
  return FindByFullNameIn(set_->names(), full_name);
}

const Command* CommandTable::FindByFullNameIn(const CommandNames& names, Bytes full_name) const {
  const size_t bar = full_name.find('|');
  const Command* command = names.Find(full_name.substr(0, bar));
  if (!command || bar == Bytes::npos) return command;
  return FindSubcommand(*command, full_name.substr(bar + 1));
}

RenameResult CommandTable::Rename(Bytes from, Bytes to) {
  const Command* command = Find(from);
  if (!command) return RenameResult::kNoSuchCommand;
  if (const Command* taken = Find(to); taken && taken != command) return RenameResult::kTargetExists;
  CommandNames::Rows rows = names_->rows();
  const auto at = std::ranges::find(rows, command, [](const auto& row) { return row.second; });
  if (to.empty()) {
    rows.erase(at);
  } else {
    at->first = ToLower(to);
  }
  own_names_ = std::make_unique<const CommandNames>(std::move(rows));
  names_ = own_names_.get();
  renamed_or_removed_.emplace(ToLower(command->full_name), command);
  return RenameResult::kDone;
}

const Command* CommandTable::FindRenamed(Bytes name) const {
  const auto found = renamed_or_removed_.find(ToLower(name));
  return found == renamed_or_removed_.end() ? nullptr : found->second;
}

void CommandTable::ResetStats() {
  for (CommandStats& stats : stats_) stats.Reset();
}

}  // namespace respite
