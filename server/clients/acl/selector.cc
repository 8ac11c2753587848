#include "server/clients/acl/selector.h"

#include <algorithm>

#include "base/glob.h"
#include "base/number_text.h"
#include "server/catalogue/dialect.h"

namespace respite {

namespace {

constexpr char kUnknown[] = "Unknown command or category name in ACL";
constexpr char kFirstOfSubcommand[] = "Allowing first-arg of a subcommand is not supported";
constexpr char kPatternAfterAllKeys[] =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try "
    "'resetkeys' to start with an empty list of patterns";
constexpr char kPatternAfterAllChannels[] =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try "
    "'resetchannels' to start with an empty list of channels";

constexpr char kDatabaseRange[] = "The provided database ID is out of range";
constexpr VersionMark kDatabaseRules = "valkey:9.1.0";  // ACL rules about databases exist from this version on

bool HasBlanks(Bytes text) {
  return std::ranges::any_of(text, [](char c) { return c == '\0' || (c >= '\t' && c <= '\r') || c == ' '; });
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : " ").append(part);
  return text;
}

}  // namespace

const KeyList& AclRequest::Keys() {
  if (!keys_) keys_ = KeysForAclCheck(command_.Spec(), words_);
  return *keys_;
}

ChannelRange FindChannelArguments(const Command& command, size_t argument_count) {
  switch (command.Spec().channels) {
    case ChannelArguments::kNone:
      return {};
    case ChannelArguments::kFirst:
      return {.first = 1, .last = 1};
    case ChannelArguments::kAll:
      return {.first = 1, .last = argument_count - 1};
    case ChannelArguments::kAllPatterns:
      return {.first = 1, .last = argument_count - 1, .use = ChannelUse::kPattern};
  }
  return {};
}

Selector::Selector(const CommandTable& table) : table_(&table), allowed_(table.Size()) {}

// ---------------------------------------------------------------------------------------------------------------------
// Changes of the rules

const char* Selector::Apply(Bytes rule) {
  const auto is = [rule](Bytes word) { return EqualsIgnoreCase(rule, word); };
  if (is("allcommands") || is("+@all")) {
    GrantEveryCommand(Grant::kGive);
  } else if (is("nocommands") || is("-@all")) {
    GrantEveryCommand(Grant::kTake);
  } else if (is("allkeys") || is("~*")) {
    all_keys_ = true;
    key_patterns_.clear();
  } else if (is("resetkeys")) {
    all_keys_ = false;
    key_patterns_.clear();
  } else if (is("allchannels") || is("&*")) {
    all_channels_ = true;
    channel_patterns_.clear();
  } else if (is("resetchannels")) {
    all_channels_ = false;
    channel_patterns_.clear();
  } else if (table_->dialect().Has(kDatabaseRules) && (is("alldbs") || is("resetdbs"))) {
    all_databases_ = is("alldbs");
    databases_.clear();
  } else if (table_->dialect().Has(kDatabaseRules) && EqualsIgnoreCase(rule.substr(0, 3), "db=")) {
    return ApplyDatabases(rule.substr(3));
  } else if (rule.starts_with('~')) {
    return ApplyKeyPattern(kMayRead | kMayWrite, rule.substr(1));
  } else if (rule.starts_with('%')) {
    return ApplyKeyAccess(rule);
  } else if (rule.starts_with('&')) {
    return ApplyChannelPattern(rule.substr(1));
  } else if (rule.starts_with('+') || rule.starts_with('-')) {
    return ApplyCommand(rule);
  } else {
    return kAclSyntaxError;
  }
  return nullptr;
}

void Selector::GrantEveryCommand(Grant grant) {
  all_commands_ = rules_begin_with_all_ = grant == Grant::kGive;
  allowed_.assign(allowed_.size(), all_commands_);
  first_arguments_.clear();
  command_rules_.clear();
}

const char* Selector::ApplyCommand(Bytes rule) {
  const Grant grant = rule[0] == '+' ? Grant::kGive : Grant::kTake;
  const Bytes name = rule.substr(1);
  if (name.starts_with('@')) {
    const uint32_t category = AclCategoryByName(name.substr(1));
    if (category == 0) return kUnknown;
    table_->ForEach([&](const Command& command) {
      if ((command.categories & category) != 0) GrantCommand(command, grant);
      for (const Command& sub : command.hidden_subcommands) {
        if ((sub.categories & category) != 0) allowed_[sub.id] = grant == Grant::kGive;
      }
    });
  } else if (const Command* command = table_->FindByOriginalName(name)) {
    GrantCommand(*command, grant);
  } else {
    return grant == Grant::kGive ? ApplyFirstArgument(name) : kUnknown;
  }
  RememberCommandRule(rule[0], name);
  return nullptr;
}

// Applies a rule such as "+select|0", which allows a command only with this first argument; `name` is "select|0". Such
// rules are refused for commands with subcommands and for subcommands. Returns null, or the error.
const char* Selector::ApplyFirstArgument(Bytes name) {
  const size_t bar = name.rfind('|');
  if (bar == Bytes::npos) return kUnknown;
  const Command* command = table_->FindByOriginalName(name.substr(0, bar));
  if (command == nullptr) return kUnknown;
  if (command->parent != nullptr) return kFirstOfSubcommand;
  const Bytes argument = name.substr(bar + 1);
  if (argument.empty() || HasBlanks(argument)) return kAclSyntaxError;
  if (command->IsContainer()) return kUnknown;
  std::vector<std::string>& arguments = first_arguments_[command->id];
  const bool is_known = std::ranges::any_of(arguments, [&](Bytes known) { return EqualsIgnoreCase(known, argument); });
  if (!is_known && arguments.size() >= kMaxAclEntries) return kTooManyAclEntries;
  if (!is_known) arguments.emplace_back(argument);
  RememberCommandRule('+', name);
  return nullptr;
}

void Selector::GrantCommand(const Command& command, Grant grant) {
  const bool allowed = grant == Grant::kGive;
  if (!allowed) all_commands_ = false;
  allowed_[command.id] = allowed;
  first_arguments_.erase(command.id);
  for (const Command& sub : command.subcommands) allowed_[sub.id] = allowed;
  for (const Command& sub : command.hidden_subcommands) allowed_[sub.id] = allowed;
}

// Appends the rule `sign` `name`, for example "+get", to command_rules_. First removes earlier rules about the same
// command, its subcommands and its first arguments.
void Selector::RememberCommandRule(char sign, Bytes name) {
  const std::string lower = ToLower(name);
  std::erase_if(command_rules_, [&](Bytes rule) {
    const Bytes known = rule.substr(1);
    return known.starts_with(lower) && (known.size() == lower.size() || known[lower.size()] == '|');
  });
  command_rules_.push_back(sign + lower);
}

const char* Selector::ApplyKeyAccess(Bytes rule) {
  if (all_keys_) return kPatternAfterAllKeys;
  uint8_t access = 0;
  size_t at = 1;
  for (; at < rule.size() && rule[at] != '~'; ++at) {
    const char letter = static_cast<char>(rule[at] & ~0x20);  // in upper case
    const uint8_t bit = letter == 'R' ? kMayRead : letter == 'W' ? kMayWrite : uint8_t{0};
    if (bit == 0 || (access & bit) != 0) return kAclSyntaxError;
    access = static_cast<uint8_t>(access | bit);
  }
  if (access == 0) return kAclSyntaxError;
  // As in Redis, a rule without "~", such as "%R", is accepted: its pattern is empty.
  return ApplyKeyPattern(access, rule.substr(std::min(at + 1, rule.size())));
}

const char* Selector::ApplyKeyPattern(uint8_t access, Bytes glob) {
  if (all_keys_) return kPatternAfterAllKeys;
  if (HasBlanks(glob)) return kAclSyntaxError;
  const auto known = std::ranges::find(key_patterns_, glob, &KeyPattern::glob);
  if (known != key_patterns_.end()) access = static_cast<uint8_t>(known->access | access);
  if (glob == "*" && access == (kMayRead | kMayWrite)) {  // shown as ~*, after which no further pattern is allowed
    all_keys_ = true;
    key_patterns_.clear();
  } else if (known != key_patterns_.end()) {
    known->access = access;
  } else if (key_patterns_.size() >= kMaxAclEntries) {
    return kTooManyAclEntries;
  } else {
    key_patterns_.push_back({access, std::string(glob)});
  }
  return nullptr;
}

const char* Selector::ApplyChannelPattern(Bytes glob) {
  if (all_channels_) return kPatternAfterAllChannels;
  if (HasBlanks(glob)) return kAclSyntaxError;
  if (std::ranges::find(channel_patterns_, glob) != channel_patterns_.end()) return nullptr;
  if (channel_patterns_.size() >= kMaxAclEntries) return kTooManyAclEntries;
  channel_patterns_.emplace_back(glob);
  return nullptr;
}

const char* Selector::ApplyDatabases(Bytes numbers) {
  std::set<int> databases;
  for (const Bytes text : SplitOn(numbers, ',')) {
    const auto number = ParseInteger(text.substr(std::min(text.find_first_not_of(' '), text.size())));
    if (!number) return kAclSyntaxError;
    if (*number < 0 || *number > INT32_MAX) return kDatabaseRange;
    databases.insert(static_cast<int>(*number));
    if (databases.size() > kMaxAclEntries) return kTooManyAclEntries;
  }
  databases_ = std::move(databases);
  all_databases_ = false;
  return nullptr;
}

// ---------------------------------------------------------------------------------------------------------------------
// Checks of requests against the rules

AclVerdict Selector::Check(AclRequest& request) const {
  if (!all_databases_) {
    if (const auto word = FindDeniedDatabase(request)) return {AclDenial::kDatabase, *word};
  }
  if (!AllowsCommand(request.command(), request.words())) return {AclDenial::kCommand};
  // Allows a request with a wrong number of arguments for its command: its keys and channels cannot be found, and the
  // command will refuse it. redis.acl_check_cmd may check such a request.
  if (!request.command().FitsArity(request.words().size())) return {};
  if (!all_keys_) {
    for (const KeyRef& key : request.Keys()) {
      if (!AllowsKey(request.words()[key.index], key.flags)) return {AclDenial::kKey, key.index};
    }
  }
  if (!all_channels_) {
    const ChannelRange channels = FindChannelArguments(request.command(), request.words().size());
    for (size_t at = channels.first; at != 0 && at <= channels.last; ++at) {
      if (!AllowsChannel(request.words()[at], channels.use)) return {AclDenial::kChannel, at};
    }
  }
  return {};
}

// SELECT and SWAPDB use only the databases that their arguments name, MOVE and COPY also the selected one. An argument
// that names no existing database is allowed here, because the command refuses it.
std::optional<size_t> Selector::FindDeniedDatabase(const AclRequest& request) const {
  const Command& command = request.command();
  if (command.Spec().uses_all_databases) return 0;
  const auto& hook = command.Spec().database_words;
  const std::vector<size_t> words = hook == nullptr ? std::vector<size_t>() : hook(request.words());
  for (const size_t word : words) {
    const auto number = ParseInteger(request.words()[word]);
    if (number && *number >= 0 && *number < request.database().count && !databases_.contains(static_cast<int>(*number)))
      return word;
  }
  const auto& other = command.Spec().uses_other_database;
  const bool uses_only_named = !words.empty() && (other == nullptr || !other(request.words()));
  if (uses_only_named || databases_.contains(request.database().selected)) return std::nullopt;
  const bool uses_keyspace = command.Is(kWrite) || command.Is(kReadOnly) || (command.categories & kAclKeyspace) != 0 ||
                             MayHaveKeys(command.Spec());
  return uses_keyspace ? std::optional<size_t>(0) : std::nullopt;
}

bool Selector::AllowsCommand(const Command& command, std::span<const Bytes> arguments) const {
  if (all_commands_ || allowed_[command.id] || command.Is(kNoAuth)) return true;
  const auto found = first_arguments_.find(command.id);
  if (found == first_arguments_.end() || arguments.size() < 2) return false;
  return std::ranges::any_of(found->second, [&](Bytes argument) { return EqualsIgnoreCase(argument, arguments[1]); });
}

bool Selector::AllowsKey(Bytes key, uint16_t flags) const {
  const bool reads = (flags & kKeyAccess) != 0;
  const bool writes = (flags & (kKeyInsert | kKeyDelete | kKeyUpdate)) != 0;
  return AllowsKeyPattern(static_cast<uint8_t>((reads ? kMayRead : 0) | (writes ? kMayWrite : 0)), key);
}

bool Selector::AllowsKeyPattern(uint8_t needed, Bytes key) const {
  return std::ranges::any_of(key_patterns_, [&](const KeyPattern& pattern) {
    return (pattern.access & needed) == needed && GlobMatch(pattern.glob, key);
  });
}

bool Selector::AllowsReadingAllKeys(const Command& command, std::span<const Bytes> arguments) const {
  if (!AllowsCommand(command, arguments)) return false;
  return all_keys_ || std::ranges::any_of(key_patterns_, [](const KeyPattern& pattern) {
           return (pattern.access & kMayRead) != 0 && pattern.glob == "*";
         });
}

bool Selector::AllowsChannel(Bytes name, ChannelUse use) const {
  return all_channels_ || std::ranges::any_of(channel_patterns_, [&](Bytes pattern) {
           return use == ChannelUse::kPattern ? pattern == name : GlobMatch(pattern, name);
         });
}

// ---------------------------------------------------------------------------------------------------------------------
// The rules as text, for ACL GETUSER and ACL LIST

std::string Selector::Commands() const {
  const std::string rules = Joined(command_rules_);
  return (rules_begin_with_all_ ? "+@all" : "-@all") + (rules.empty() ? rules : " " + rules);
}

std::vector<std::string> Selector::KeyRules() const {
  if (all_keys_) return {"~*"};
  std::vector<std::string> rules;
  for (const auto& [access, glob] : key_patterns_) {
    const char* sign = access == kMayRead ? "%R~" : access == kMayWrite ? "%W~" : "~";
    rules.push_back(sign + glob);
  }
  return rules;
}

std::string Selector::Keys() const { return Joined(KeyRules()); }

std::string Selector::Channels() const {
  if (all_channels_) return "&*";
  std::vector<std::string> parts;
  for (const std::string& glob : channel_patterns_) parts.push_back("&" + glob);
  return Joined(parts);
}

std::string Selector::Databases() const {
  if (all_databases_) return "alldbs";
  std::string text;
  for (const int number : databases_) text.append(text.empty() ? "db=" : ",").append(std::to_string(number));
  return text;
}

std::vector<std::string> Selector::Rules() const {
  std::vector<std::string> rules = KeyRules();
  rules.emplace_back(all_channels_ ? "&*" : "resetchannels");
  for (const std::string& glob : channel_patterns_) rules.push_back("&" + glob);
  if (!all_databases_) rules.push_back(databases_.empty() ? "resetdbs" : Databases());
  rules.emplace_back(rules_begin_with_all_ ? "+@all" : "-@all");
  rules.insert(rules.end(), command_rules_.begin(), command_rules_.end());
  return rules;
}

}  // namespace respite
