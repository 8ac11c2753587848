#include "server/clients/acl/users.h"

#include <algorithm>

#include "server/config/value_text.h"

namespace respite {

namespace {

constexpr Bytes kBlanks = " \t\r\n\v\f";

// Quotes a word for the configuration file if the word is empty or contains quotes. Redis does not quote such words,
// and then fails to start with its own file.
std::string WrittenInConfig(const std::string& word) {
  return word.empty() || word.find_first_of("\"'") != std::string::npos ? Quoted(word) : word;
}

}  // namespace

bool IsValidUserName(Bytes name) {
  return name.find('\0') == Bytes::npos && name.find_first_of(kBlanks) == Bytes::npos;
}

Users::Users(const CommandTable& table, const Settings& settings) : table_(table), settings_(settings) {
  users_.emplace("default", std::make_unique<User>(MakeDefaultUser()));
  SetDefaultPassword(settings.requirepass);
}

User Users::MakeDefaultUser() const {
  User user("default", table_, AclPubsubDefault::kAllChannels);
  for (Bytes rule : {"on", "nopass", "~*", "&*", "+@all"}) user.Apply(rule, AclPubsubDefault::kAllChannels);
  return user;
}

User Users::MakeUser(Bytes name) const { return User(name, table_, settings_.acl_pubsub_default); }

const User* Users::Find(Bytes name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : found->second.get();
}

const User* Users::FindIfPasswordMatches(Bytes name, Bytes password) const {
  const User* user = Find(name);
  return user != nullptr && user->HasPassword(password) ? user : nullptr;
}

Result<Done, Users::BadRule> Users::Set(Bytes name, std::span<const std::string> rules, const Change& change) {
  const auto found = users_.find(name);
  User next = found == users_.end() ? MakeUser(name) : *found->second;
  for (const std::string& rule : rules) {
    if (const char* reason = next.Apply(rule, settings_.acl_pubsub_default)) return Failure(BadRule{rule, reason});
  }
  if (found == users_.end()) {
    users_.emplace(std::string(name), std::make_unique<User>(std::move(next)));
  } else {
    change(*found->second, next);
    *found->second = std::move(next);
  }
  return Done{};
}

void Users::SetDefaultPassword(Bytes password) { users_.at("default")->SetPassword(password); }

void Users::Remove(const User& user) { users_.erase(users_.find(user.name())); }

std::vector<std::string> Users::AclFileLines() const {
  std::vector<std::string> lines;
  ForEach([&](const User& user) { lines.push_back("user " + user.name() + " " + user.RulesText()); });
  return lines;
}

std::vector<std::string> Users::ConfigLines() const {
  std::vector<std::string> lines;
  ForEach([&](const User& user) {
    std::string line = "user " + WrittenInConfig(user.name());
    for (const std::string& rule : user.Rules()) line += " " + WrittenInConfig(rule);
    lines.push_back(std::move(line));
  });
  return lines;
}

// Parses a line of an ACL file, split into `words`, and adds the user to `into`. Returns the error, or an empty text.
// `place` is the path and the line number for the error.
std::string Users::ParseAclLine(std::span<const Bytes> words, const LinePlace& place, Map& into) const {
  const std::string number = std::to_string(place.number);
  const std::string at = place.path + ":" + number;
  if (words.size() < 2 || words[0] != "user") return at + " should start with user keyword followed by the username. ";
  const Bytes name = words[1];
  // The error text begins with a single quote that is never closed, as in Redis.
  if (!IsValidUserName(name)) return "'" + at + ": username '" + std::string(name) + "' contains invalid characters. ";
  if (into.contains(name)) return "WARNING: Duplicate user '" + std::string(name) + "' found on line " + number + ". ";
  const MergedRules merged = MergeSelectorArguments(words.subspan(2));
  if (merged.unmatched) return at + ": Unmatched parenthesis in selector definition. ";
  auto user = std::make_unique<User>(MakeUser(name));
  for (const std::string& rule : merged.rules) {
    const char* reason = user->Apply(rule, settings_.acl_pubsub_default);
    if (reason == kAclSyntaxError) return at + ": " + reason + ". ";
    if (reason != nullptr) return at + ": Error in applying operation '" + rule + "': " + reason + ". ";
  }
  into.emplace(std::string(name), std::move(user));
  return {};
}

Result<Done, std::string> Users::Load(Bytes text, const std::string& path, const Replacement& replacement) {
  Map next;
  std::string trouble;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const Bytes line = TrimLine(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty()) continue;
    const std::vector<Bytes> words = SplitOn(line, ' ');  // two consecutive blanks yield an empty word
    trouble += ParseAclLine(words, {path, number + 1}, next);
  }
  if (!trouble.empty()) return Failure(trouble);
  if (!next.contains("default")) next.emplace("default", std::make_unique<User>(MakeDefaultUser()));
  // The sessions of removed users get the default user, so users_ must not change before all are told. Sessions of the
  // default user stay connected, as in Redis, even if its new permissions forbid their subscriptions.
  const auto new_of = [&](const std::string& name) {
    return name == "default" || replacement.keeps_users ? next.find(name) : next.end();
  };
  for (const auto& [name, user] : users_) {
    if (name == "default") continue;
    const auto found = new_of(name);
    found == next.end() ? replacement.before_removal(*user) : replacement.before_change(*user, *found->second);
  }
  for (auto& [name, user] : users_) {
    const auto found = new_of(name);
    if (found == next.end()) continue;
    *user = std::move(*found->second);
    std::swap(user, found->second);  // keeps the User at its address, to which sessions point
  }
  users_ = std::move(next);
  return Done{};
}

}  // namespace respite
