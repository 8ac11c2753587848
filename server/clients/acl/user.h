// User: an ACL user, with a name, passwords and permissions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/clients/acl/selector.h"
#include "server/config/settings.h"

namespace respite {

class User {  // an ACL user: its name, passwords and permissions
 public:
  // Creates a user that is off, without passwords or permissions. `pubsub` (acl-pubsub-default) decides whether the
  // user may use all channels or none.
  User(Bytes name, const CommandTable& table, AclPubsubDefault pubsub);

  const std::string& name() const { return name_; }
  bool IsOn() const { return is_on_; }                   // the rule `on`: clients may log in as this user
  bool NeedsNoPassword() const { return no_password_; }  // true: any password is right (rule `nopass`)
  bool IsUnlimited() const { return is_unlimited_; }     // true: the root selector allows everything

  // Applies a rule of ACL SETUSER, or a whole selector in parentheses. The rule `reset` needs `pubsub`
  // (acl-pubsub-default).
  const char* Apply(Bytes rule, AclPubsubDefault pubsub);  // applies a rule of ACL SETUSER; returns null, or the error
  void SetPassword(Bytes password);                        // sets the only password (requirepass); empty: `nopass`

  // Returns whether the user is on and the password is right. With `nopass`, any password is right. Compares in
  // constant time, so that the time reveals nothing about the right password.
  bool HasPassword(Bytes password) const;            // the user is on, and `password` is right
  AclVerdict Check(AclRequest& request) const;       // whether the user may run the request, or why not
  bool AllowsReadingAllKeys(const Command& command,  // true: allows the command, and reading any key
                            std::span<const Bytes> arguments) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;  // the rules allow the use of this channel or pattern

  std::vector<std::string> Flags() const;           // the flags of ACL GETUSER: "on" or "off", "nopass" …
  std::vector<std::string> PasswordHashes() const;  // SHA-256 of each password, in hexadecimal
  std::span<const Selector> Selectors() const { return selectors_; }  // sets of permissions; the root selector is first
  // Returns all rules that define this user, in a form that Apply accepts: "on", "nopass", "sanitize-payload", "~*",
  // "&*", "+@all", "(~a resetchannels -@all +get)".
  std::vector<std::string> Rules() const;  // all rules that define this user: "on", "~*", "+@all" …
  std::string RulesText() const;           // all rules as one text, separated by blanks, for ACL LIST

 private:
  using Digest = std::array<uint8_t, 32>;  // SHA-256

  // Applies a rule about the user as a whole, such as "on", ">password" or a selector in parentheses. Returns null if
  // the rule was applied, or the error. Returns nullopt for a rule that the root selector must apply, such as "+get".
  std::optional<const char*> ApplyToUser(Bytes rule,  // applies "on" …; null: done, else the error; nullopt: other rule
                                         AclPubsubDefault pubsub);
  const char* ApplyPassword(Bytes rule);  // applies ">pw", "<pw", "#hash" or "!hash"; returns null, or the error
  const char* AddSelector(Bytes rules);   // adds a selector; `rules`: "~a +get"; returns null, or the error
  const char* AddPassword(const Digest& digest);  // adds the hash of a password; returns null, or the error
  void Reset(AclPubsubDefault pubsub);  // ACL rule `reset`: turns the user off, removes all passwords and permissions
  void UpdateIsUnlimited() { is_unlimited_ = selectors_.front().IsUnlimited(); }  // after each change of rules

  std::string name_;
  const CommandTable* table_;            // all commands that the server knows
  bool is_on_ = false;                   // the rule `on`: clients may log in as this user
  bool no_password_ = false;             // the rule `nopass`: any password is right
  bool skips_payload_checks_ = false;    // the rule skip-sanitize-payload; is shown, but has no effect
  bool is_unlimited_ = false;            // the root selector allows every command, key, channel and database
  std::vector<Digest> password_hashes_;  // SHA-256 hashes of the passwords
  std::vector<Selector> selectors_;      // the user's sets of permissions; the root selector is first
};

// The result of MergeSelectorArguments. ACL SETUSER accepts a selector in several arguments, such as "(+get" and
// "~key)", which are one rule here.
struct MergedRules {                     // ACL SETUSER's arguments, where each selector has become one
  std::vector<std::string> rules;        // the rules, for example "+get" and "(~key +set)"
  std::optional<std::string> unmatched;  // the argument with a parenthesis that is never closed; nullopt: none
};
MergedRules MergeSelectorArguments(std::span<const Bytes> arguments);  // joins "(+get" and "~key)" to "(+get ~key)"

}  // namespace respite
