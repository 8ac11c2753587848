#include "server/clients/acl/user.h"

#include <algorithm>
#include <charconv>

#include "base/digest.h"
#include "server/catalogue/dialect.h"

namespace respite {

namespace {

constexpr char kNoSuchPassword[] = "The password you are trying to remove from the user does not exist";
constexpr char kBadHash[] =
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters";

Bytes AsBytes(const std::array<uint8_t, 32>& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::optional<std::array<uint8_t, 32>> DigestOf(Bytes hex) {
  std::array<uint8_t, 32> digest;
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hex.size() != 2 * digest.size() || !std::ranges::all_of(hex, is_digit)) return std::nullopt;
  for (size_t i = 0; i < digest.size(); ++i) std::from_chars(&hex[2 * i], &hex[2 * i] + 2, digest[i], 16);
  return digest;
}

// Quotes a rule within a selector if it contains quotes or ends with a parenthesis. A selector is split into rules like
// a line of redis.conf, and a rule that ends with a parenthesis would end the selector. Redis writes no quotes here, so
// it reads other rules from its own file.
std::string WrittenInSelector(const std::string& rule) {
  const bool needs_quotes = rule.find_first_of("\"'") != std::string::npos || rule.ends_with(')');
  return needs_quotes ? Quoted(rule) : rule;
}

std::string SelectorText(const Selector& selector) {
  std::string text;
  for (const std::string& rule : selector.Rules()) text += (text.empty() ? "" : " ") + WrittenInSelector(rule);
  return "(" + text + ")";
}

}  // namespace

User::User(Bytes name, const CommandTable& table, AclPubsubDefault pubsub) : name_(name), table_(&table) {
  Reset(pubsub);
}

void User::Reset(AclPubsubDefault pubsub) {
  is_on_ = no_password_ = skips_payload_checks_ = false;
  password_hashes_.clear();
  selectors_.assign(1, Selector(*table_));
  if (pubsub == AclPubsubDefault::kAllChannels) selectors_.front().Apply("allchannels");
}

const char* User::Apply(Bytes rule, AclPubsubDefault pubsub) {
  const auto outcome = ApplyToUser(rule, pubsub);
  const char* trouble = outcome ? *outcome : selectors_.front().Apply(rule);
  UpdateIsUnlimited();
  return trouble;
}

std::optional<const char*> User::ApplyToUser(Bytes rule, AclPubsubDefault pubsub) {
  const auto is = [rule](Bytes word) { return EqualsIgnoreCase(rule, word); };
  if (rule.empty()) return nullptr;
  if (is("on") || is("off")) {
    is_on_ = is("on");
  } else if (is("nopass") || is("resetpass")) {
    no_password_ = is("nopass");
    password_hashes_.clear();
  } else if (is("skip-sanitize-payload") || is("sanitize-payload")) {
    skips_payload_checks_ = is("skip-sanitize-payload");
  } else if (is("clearselectors")) {
    selectors_.erase(selectors_.begin() + 1, selectors_.end());
  } else if (is("reset")) {
    Reset(pubsub);
  } else if (rule.starts_with('(')) {
    return rule.ends_with(')') ? AddSelector(rule.substr(1, rule.size() - 2)) : kAclSyntaxError;
  } else if (Bytes("><#!").find(rule[0]) != Bytes::npos) {
    return ApplyPassword(rule);
  } else {
    return std::nullopt;
  }
  return nullptr;
}

const char* User::ApplyPassword(Bytes rule) {
  const bool is_hash = rule[0] == '#' || rule[0] == '!';
  const auto digest = is_hash ? DigestOf(rule.substr(1)) : Sha256(rule.substr(1));
  if (!digest) return kBadHash;
  if (rule[0] == '>' || rule[0] == '#') {
    return AddPassword(*digest);
  }
  return std::erase(password_hashes_, *digest) != 0 ? nullptr : kNoSuchPassword;
}

const char* User::AddPassword(const Digest& digest) {
  const bool is_new = std::ranges::find(password_hashes_, digest) == password_hashes_.end();
  if (is_new && password_hashes_.size() >= kMaxAclEntries) return kTooManyAclEntries;
  if (is_new) password_hashes_.push_back(digest);
  no_password_ = false;
  return nullptr;
}

const char* User::AddSelector(Bytes rules) {
  if (selectors_.size() > kMaxAclEntries) return kTooManyAclEntries;
  Selector selector(*table_);
  // A selector with unbalanced quotes has no rules, and allows nothing, as in Redis.
  for (const std::string& rule : SplitQuoted(rules).value_or(std::vector<std::string>())) {
    if (const char* trouble = selector.Apply(rule)) return trouble;
  }
  selectors_.push_back(std::move(selector));
  return nullptr;
}

void User::SetPassword(Bytes password) {
  password_hashes_.clear();
  no_password_ = password.empty();
  if (!password.empty()) AddPassword(Sha256(password));
}

bool User::HasPassword(Bytes password) const {
  const Digest given = Sha256(password);
  bool fits = false;
  for (const Digest& known : password_hashes_) fits |= ConstantTimeEquals(AsBytes(given), AsBytes(known));
  return is_on_ && (no_password_ || fits);
}

AclVerdict User::Check(AclRequest& request) const {
  AclVerdict closest{};
  for (const Selector& selector : selectors_) {
    const AclVerdict verdict = selector.Check(request);
    if (verdict.IsAllowed()) return verdict;
    if (verdict.IsCloserThan(closest)) closest = verdict;
  }
  return closest;
}

bool User::AllowsReadingAllKeys(const Command& command, std::span<const Bytes> arguments) const {
  return std::ranges::any_of(
      selectors_, [&](const Selector& selector) { return selector.AllowsReadingAllKeys(command, arguments); });
}

bool User::AllowsChannel(Bytes name, ChannelUse use) const {
  return std::ranges::any_of(selectors_, [&](const Selector& selector) { return selector.AllowsChannel(name, use); });
}

std::vector<std::string> User::Flags() const {
  std::vector<std::string> flags{is_on_ ? "on" : "off"};
  if (no_password_) flags.emplace_back("nopass");
  if (table_->dialect().traits.users_show_payload_flags)
    flags.emplace_back(skips_payload_checks_ ? "skip-sanitize-payload" : "sanitize-payload");
  return flags;
}

std::vector<std::string> User::PasswordHashes() const {
  std::vector<std::string> hashes;
  for (const Digest& digest : password_hashes_) hashes.push_back(HexText(digest));
  return hashes;
}

std::vector<std::string> User::Rules() const {
  std::vector<std::string> rules = Flags();
  for (const std::string& hash : PasswordHashes()) rules.push_back("#" + hash);
  for (std::string& rule : selectors_.front().Rules()) rules.push_back(std::move(rule));
  for (const Selector& selector : Selectors().subspan(1)) rules.push_back(SelectorText(selector));
  return rules;
}

std::string User::RulesText() const {
  std::string text;
  for (const std::string& rule : Rules()) text += (text.empty() ? "" : " ") + rule;
  return text;
}

MergedRules MergeSelectorArguments(std::span<const Bytes> arguments) {
  MergedRules merged;
  std::optional<std::string> open;
  Bytes opened_by;
  for (Bytes word : arguments) {
    if (open) {
      *open += " " + std::string(word);
    } else if (word.starts_with('(')) {
      open = std::string(word);
      opened_by = word;
    } else {
      merged.rules.emplace_back(word);
    }
    if (open && open->ends_with(')')) merged.rules.push_back(*std::exchange(open, std::nullopt));
  }
  if (open) merged.unmatched = std::string(opened_by);
  return merged;
}

}  // namespace respite
