// Users: everybody who may log in, and `default`, which a client is until it does. There is always a default user.
//
// A User stays where it is until it is removed: sessions keep pointers, and see at once what changes.
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
  // The table and the settings must outlive it. Makes the default user, who may do everything without a password.
  Users(const CommandTable& table, const Settings& settings);

  const User& Default() const { return *users_.at("default"); }
  // Null when there is none.
  const User* Find(Bytes name) const;
  // Visits all, by name.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [name, user] : users_) visit(*user);
  }

  // One of nobody's, who may do everything: for what is repeated from a file.
  User Unlimited() const { return FreshDefault(); }
  // A new client has to log in first.
  bool LoginRequired() const { return !Default().NeedsNoPassword() || !Default().IsOn(); }
  // The user of this name, if that is the password. Null otherwise.
  const User* LogIn(Bytes name, Bytes password) const;

  // Makes or changes a user by all these rules, or by none: the failure says which is none, and why. `change` is called
  // between: with the user as it is and as it is going to be, for a user that exists.
  struct BadRule {
    std::string rule;
    const char* reason;
  };
  using Change = std::function<void(const User& before, const User& after)>;
  Result<Done, BadRule> Set(Bytes name, std::span<const std::string> rules, const Change& change);
  // requirepass: the only password of the default user; empty: it needs none.
  void SetDefaultPassword(Bytes password);
  // Nobody may hold it any more. Requires: not the default user.
  void Remove(const User& user);

  // "user NAME RULES" of each: an ACL file without its line ends, and the lines of CONFIG REWRITE.
  std::vector<std::string> Lines() const;
  // Replaces all users by those of an ACL file, or none when a line is wrong: the failure names the lines. `removed` is
  // called for each user but the default one before it goes, also when the file has one of that name. A file without
  // the default user makes it anew, without a password: requirepass does not count with an ACL file.
  Result<Done, std::string> Load(Bytes text, const std::string& path, const std::function<void(const User&)>& removed);

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
