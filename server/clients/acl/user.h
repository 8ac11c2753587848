// User: the passwords of a user and the permissions of its sessions.
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

class User {
 public:
  // Creates a user that is off, without passwords or permissions. `pubsub`: whether it may use every channel.
  User(Bytes name, const CommandTable& table, AclPubsubDefault pubsub);

  const std::string& name() const { return name_; }
  bool IsOn() const { return is_on_; }
  bool NeedsNoPassword() const { return no_password_; }
  // Returns whether the user may do everything. Cost: one load.
  bool IsUnlimited() const { return is_unlimited_; }

  // Applies a rule of ACL SETUSER, or a whole selector in parentheses. Returns null, or the error for an invalid rule,
  // which changes nothing.
  const char* Apply(Bytes rule, AclPubsubDefault pubsub);
  // requirepass: makes this the only password. If it is empty, no password is required.
  void SetPassword(Bytes password);

  // Returns whether the user is on and this is one of its passwords. Takes constant time.
  bool Accepts(Bytes password) const;
  AclVerdict Check(AclRequest& request) const;
  bool AllowsReadingAll(const Command& command, std::span<const Bytes> words) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;

  // Returns the flags of ACL GETUSER: "on", "nopass" …
  std::vector<std::string> Flags() const;
  std::vector<std::string> PasswordHashes() const;
  // Returns all selectors, the root selector first.
  std::span<const Selector> Selectors() const { return selectors_; }
  // Returns all rules that define this user, in a form that Apply accepts: "on", "nopass", "sanitize-payload", "~*",
  // "&*", "+@all", "(~a resetchannels -@all +get)".
  std::vector<std::string> Rules() const;
  // Returns the rules separated by blanks, as ACL LIST shows them.
  std::string Describe() const;

 private:
  using Digest = std::array<uint8_t, 32>;  // SHA-256

  // Returns nullopt for rules that selectors handle, else the result of Apply.
  std::optional<const char*> ApplyToUser(Bytes rule, AclPubsubDefault pubsub);
  const char* ApplyPassword(Bytes rule);
  const char* AddSelector(Bytes rules);
  const char* AddPassword(const Digest& digest);
  void Reset(AclPubsubDefault pubsub);
  void NoteLimits() { is_unlimited_ = selectors_.front().IsUnlimited(); }

  std::string name_;
  const CommandTable* table_;
  bool is_on_ = false;
  bool no_password_ = false;
  bool skips_payload_checks_ = false;  // Redis' flag; this server always checks payloads
  bool is_unlimited_ = false;
  std::vector<Digest> passwords_;
  std::vector<Selector> selectors_;
};

// Joins the arguments that belong to one selector: ACL SETUSER accepts "(+get" "~key)". If a parenthesis is never
// closed, `unmatched` is the argument that opened it.
struct MergedRules {
  std::vector<std::string> rules;
  std::optional<std::string> unmatched;
};
MergedRules MergeSelectors(std::span<const Bytes> words);

}  // namespace respite
