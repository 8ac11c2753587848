// User: who may come in with which password, and what the sessions of this user may do.
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
  // Off, without password or permission; `pubsub` says whether it may use every channel.
  User(Bytes name, const CommandTable& table, AclPubsubDefault pubsub);

  const std::string& name() const { return name_; }
  bool IsOn() const { return is_on_; }
  bool NeedsNoPassword() const { return no_password_; }
  // May do everything. Cost: one load.
  bool IsUnlimited() const { return is_unlimited_; }

  // One rule of ACL SETUSER, a whole selector in parentheses included. Returns null, or why there is no such rule; then
  // nothing has changed.
  const char* Apply(Bytes rule, AclPubsubDefault pubsub);
  // The password alone: requirepass. Empty: none is needed.
  void SetPassword(Bytes password);

  // On, and this is one of its passwords. Takes as long for a wrong one as for a right one.
  bool LetsIn(Bytes password) const;
  AclVerdict Check(AclRequest& request) const;
  bool AllowsReadingAll(const Command& command, std::span<const Bytes> words) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;

  // "on", "nopass" …: the flags of ACL GETUSER.
  std::vector<std::string> Flags() const;
  std::vector<std::string> PasswordHashes() const;
  // The user's own permissions first.
  std::span<const Selector> Selectors() const { return selectors_; }
  // "on nopass sanitize-payload ~* &* +@all": all rules that make this user.
  std::string Describe() const;

 private:
  using Digest = std::array<uint8_t, 32>;  // SHA-256

  // As Apply; nothing when the rule is not about the user as such.
  std::optional<const char*> ApplyToUser(Bytes rule, AclPubsubDefault pubsub);
  const char* ApplyPassword(Bytes rule);
  const char* AddSelector(Bytes rules);
  void AddPassword(const Digest& digest);
  void Reset(AclPubsubDefault pubsub);
  void NoteLimits() { is_unlimited_ = selectors_.front().IsUnlimited(); }

  std::string name_;
  const CommandTable* table_;
  bool is_on_ = false;
  bool no_password_ = false;
  bool skips_payload_checks_ = false;  // Redis' flag; here payloads are always checked
  bool is_unlimited_ = false;
  std::vector<Digest> passwords_;
  std::vector<Selector> selectors_;
};

// ACL SETUSER takes "(+get" "~key)" for one selector: the words put together again. Nothing, and the word that a
// selector began with in `unmatched`, when a parenthesis is never closed.
struct MergedRules {
  std::vector<std::string> rules;
  std::optional<std::string> unmatched;
};
MergedRules MergeSelectors(std::span<const Bytes> words);

}  // namespace respite
