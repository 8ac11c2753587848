// Migrations: transfers of MIGRATE, each over a Link, while other clients are served.
//
//   MIGRATE ─► Start ─► kConnecting ─► kTalking ─► kDone ─► end of the Turn: the request runs again, and finds
//   TakeOutcome
//                           │              └─ the link breaks before an answer: once more, over a new link
//                           └─ a link that was kept: at once
//
// The values are taken when the command is called; MigratingKeys keeps them as they are until the end. If the caller is
// gone by then, the keys that have arrived are deleted nevertheless. During a pause of writes the end waits.
//
// Inside EXEC and scripts MIGRATE is one atomic step with the other commands, and uses the blocking MigrateLink
// instead.
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
#include "server/migration/migrate_protocol.h"
#include "server/net/link.h"
#include "server/runtime/timers.h"

namespace respite {

struct Command;
struct Role;
struct Services;
struct Session;

// What became of a transfer.
struct MigrateOutcome {
  MigrateTrouble trouble = MigrateTrouble::kNone;
  std::string error = {};                 // of the other server
  std::vector<std::string> arrived = {};  // keys to delete here
  bool keeps_changed = false;             // some arrived, but were changed here meanwhile
};

// Deletes keys that another server has now.
void DeleteArrived(const Services& services, DbView& db, Effect& effect, const std::vector<std::string>& keys);

class Migrations final : public Timers::Source {
 public:
  struct Parts {
    const Services& services;
    const LateBound<Network>& network;
    const Role& role;
    MigratingKeys& migrating_keys;
  };
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

  explicit Migrations(const Parts& parts);
  ~Migrations() override;

  // Whether there is a network; else MIGRATE has to block.
  bool CanStart() const { return static_cast<bool>(parts_.network); }
  // Requires: CanStart(), none of the keys is moving, and the session waits with this command from now on.
  void Start(const Session& session, const Command& command, Order order);
  // What the session waited for, if its request runs again for that.
  std::optional<MigrateOutcome> TakeOutcome(const Session& session);

  // Finishes what has ended in this Turn.
  void EndTurn();
  // Timeouts.
  int64_t NextDueMs() const override;
  void RunDue(int64_t now_ms) override;
  std::string WhatIsDue() const override { return "MIGRATE times out"; }
  // Closes links that were idle for kIdleMs.
  void CloseIdle(int64_t now_ms);
  // Closes all that are idle.
  void DropIdle();
  // Links, idle or not.
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

  const Parts parts_;
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
