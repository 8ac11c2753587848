// Users: all users, including `default`, the user of clients before they log in. There is always a default user.
//
// The address of a User is stable until it is removed: sessions keep pointers, so changes take effect at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/clients/acl/user.h"

namespace respite {

class Users {
 public:
  // Creates the default user, who may do everything without a password. The table and the settings must outlive this
  // object.
  Users(const CommandTable& table, const Settings& settings);

  const User& Default() const { return *users_.at("default"); }
  // Returns null if there is no such user.
  const User* Find(Bytes name) const;
  // Visits all users in order of their names.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [name, user] : users_) visit(*user);
  }

  // A user outside this list who may do everything, for loading the append-only file.
  User Unlimited() const { return FreshDefault(); }
  // Whether new clients must log in first.
  bool LoginRequired() const { return !Default().NeedsNoPassword() || !Default().IsOn(); }
  // Returns the user if this is a valid password of it, else null.
  const User* LogIn(Bytes name, Bytes password) const;

  // Creates or changes a user by all these rules or none; the error names the invalid rule. For an existing user, calls
  // `change` with the old and the new version before the change.
  struct BadRule {
    std::string rule;
    const char* reason;
  };
  using Change = std::function<void(const User& before, const User& after)>;
  Result<Done, BadRule> Set(Bytes name, std::span<const std::string> rules, const Change& change);
  // requirepass: the only password of the default user; empty: none is required.
  void SetDefaultPassword(Bytes password);
  // Requires: not the default user, and nobody holds a pointer to it.
  void Remove(const User& user);

  // "user NAME RULES" for each user: the lines of an ACL file, without line ends. Single blanks separate
  // its words. Only rules within a selector may be quoted.
  std::vector<std::string> Lines() const;
  // "user NAME RULES" for each user: the lines of a configuration file, where words with quotes are quoted.
  std::vector<std::string> ConfigLines() const;
  // What becomes of the users when an ACL file is read. The default user always stays.
  struct Replacement {
    bool keeps_users;  // those of the same name; false: all are removed, whatever the file has
    std::function<void(const User&)> removed;
    Change changed;
  };
  // Replaces all users by those of an ACL file, or none if a line is wrong; the error names the lines. Calls `removed`
  // and `changed` before it happens. A file without a default user creates one without a password: requirepass does not
  // apply with an ACL file.
  Result<Done, std::string> Load(Bytes text, const std::string& path, const Replacement& replacement);

 private:
  using Map = std::map<std::string, std::unique_ptr<User>, std::less<>>;

  struct LinePlace {
    const std::string& path;
    size_t number;
  };

  User Fresh(Bytes name) const;
  User FreshDefault() const;
  std::string ReadLine(std::span<const Bytes> words, const LinePlace& place, Map& into) const;

  const CommandTable& table_;
  const Settings& settings_;
  Map users_;
};

bool IsUserName(Bytes name);

}  // namespace respite
