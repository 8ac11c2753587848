// Migrations: transfers of MIGRATE, each over a Link, while other clients are served.
//
//   MIGRATE ─► Start ─► kConnecting ─► kTalking ─► kDone ─► end of the turn: the request runs again (TakeOutcome)
//                           │              └─ the link breaks before an answer: one more attempt, over a new link
//                           └─ skipped if a kept link is used
//
// The values are serialised when the command is called. MigratingKeys pauses requests for the keys until the end. If
// the caller has gone by then, the keys that have arrived are deleted nevertheless. During a pause of writes the end
// waits.
//
// Inside EXEC and scripts MIGRATE is one atomic step with the other commands, and uses the blocking MigrateLink.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "server/clients/migrating_keys.h"
#include "server/dataset/edit.h"
#include "server/dataset/journal.h"
#include "server/execution/services.h"
#include "server/migration/migrate_link.h"
#include "server/migration/migrate_protocol.h"
#include "server/net/link.h"
#include "server/runtime/timers.h"

namespace respite {

struct Command;
struct Session;

// The result of a transfer.
struct MigrateOutcome {
  MigrateTrouble trouble = MigrateTrouble::kNone;
  std::string error = {};                 // error of the other server
  std::vector<std::string> arrived = {};  // keys to delete here
  bool keeps_changed = false;             // some arrived, but were changed here meanwhile and are kept
};

// Deletes keys that the other server has stored.
void DeleteArrived(const Services& services, DbView& db, Effect& effect, const std::vector<std::string>& keys);

class Migrations final : public Timers::Source {
 public:
  struct Order {
    std::string host;
    std::string port;
    bool encrypts;
    int64_t timeout_ms;
    bool copies;
    MigrateProtocol talk;
  };
  static constexpr size_t kMostKept = 64;
  static constexpr int64_t kIdleMs = 10'000;

  explicit Migrations(const Services& services);
  ~Migrations() override;

  // Returns whether there is a network. Without one, MIGRATE must block.
  bool CanStart() const { return static_cast<bool>(services_.env.network); }
  // Starts a transfer. Requires: CanStart(), none of the keys is being migrated, and this command blocks the session
  // from now on.
  void Start(const Session& session, const Command& command, Order order);
  // Returns the result for which the session was blocked, while its request runs again.
  std::optional<MigrateOutcome> TakeOutcome(const Session& session);

  // Finishes the transfers that have ended.
  void EndTurn();
  // Timers::Source: timeouts.
  int64_t NextDueMs() const override;
  void RunDue(int64_t now_ms) override;
  std::string WhatIsDue() const override { return "MIGRATE times out"; }
  // Closes links that were idle for kIdleMs.
  void CloseIdle(int64_t now_ms);
  void DropIdle();
  // Returns the links of MIGRATE inside EXEC and scripts.
  MigrateLinks& blocking_links() { return blocking_links_; }
  // Returns the number of links, idle or not.
  size_t CountLinks() const { return channels_.size(); }

 private:
  class Channel;
  struct Migration;

  void Attempt(Migration& migration);
  void Dial(Migration& migration);
  void Talk(Channel& channel, Migration& migration);
  void OnAnswered(Channel& channel);
  void OnLost(Channel& channel);
  void RestartTimer(Migration& migration) const;
  void LookLater(Migration& migration) const;
  void Fail(Migration& migration, MigrateTrouble trouble);
  void EndTalk(Migration& migration);
  void Drop(const Channel& channel);
  void MakeRoom();
  Channel* FindIdle(const std::string& name);

  void Finish(Migration& migration);
  MigrateOutcome OutcomeOf(Migration& migration);
  Session* FindCaller(const Migration& migration) const;
  void DeleteWithoutCaller(int db, const std::vector<std::string>& keys);
  void ResumePaused();
  int64_t NowMs() const;

  const Services& services_;
  MigrateLinks blocking_links_;
  std::list<std::unique_ptr<Channel>> channels_;
  std::list<std::unique_ptr<Migration>> migrations_;
  size_t done_ = 0;  // of migrations_
  struct Told {
    uint64_t session;
    MigrateOutcome outcome;
  };
  std::optional<Told> told_;
};

}  // namespace respite
