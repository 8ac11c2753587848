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

struct MigrateOutcome {                                  // the result of a transfer
  FailedMigrateStep trouble = FailedMigrateStep::kNone;  // where it failed
  std::string error = {};                                // error of the other server
  std::vector<std::string> arrived = {};                 // keys to delete here
  bool keeps_changed = false;                            // some arrived, but were changed here meanwhile and are kept
};

// Deletes keys that the other server has stored.
void DeleteArrivedKeys(const Services& services, DbView& db, Propagation& effect, const std::vector<std::string>& keys);

class Migrations final : public Timers::Source {  // calls of MIGRATE, while other clients are served
 public:
  struct Order {  // what MIGRATE was called with
    std::string host;
    std::string port;
    bool uses_tls;       // with TLS
    int64_t timeout_ms;  // without progress
    bool copies;         // COPY: the keys also stay here
    MigrateProtocol talk;
  };
  static constexpr size_t kMaxLinks = 64;     // with links in use
  static constexpr int64_t kIdleMs = 10'000;  // an unused link is closed after this time

  explicit Migrations(const Services& services);
  ~Migrations() override;

  bool HasNetwork() const { return static_cast<bool>(services_.env.network); }  // without one, MIGRATE must block
  // Starts a transfer. Requires: HasNetwork(), none of the keys is being migrated, and this command blocks the session
  // from now on.
  void Start(const Session& session, const Command& command, Order order);
  std::optional<MigrateOutcome> TakeOutcome(const Session& session);  // while its request runs again

  void EndTurn();  // finishes the transfers that have ended
  // Timers::Source: timeouts.
  int64_t NextDueMs() const override;
  void RunDue(int64_t now_ms) override;  // handles timeouts
  std::string NextDueText() const override { return "MIGRATE times out"; }
  void CloseIdleLinks(int64_t now_ms);                        // those that were unused for kIdleMs
  void DropIdleLinks();                                       // however short they were unused
  MigrateLinks& blocking_links() { return blocking_links_; }  // for MIGRATE inside EXEC and scripts
  size_t CountLinks() const { return channels_.size(); }      // idle or not

 private:
  class Channel;
  struct Migration;

  void Attempt(Migration& migration);  // over a kept link or a new one
  void Connect(Migration& migration);
  void Talk(Channel& channel, Migration& migration);
  void HandleAllAnswers(Channel& channel);         // the link is unused from now on
  void HandleLostLink(Channel& channel);           // tries again over a new link, if the old one may have been stale
  void RestartTimer(Migration& migration) const;   // there was progress
  void ScheduleCheck(Migration& migration) const;  // sets the time of the next look at the timeout
  void Fail(Migration& migration, FailedMigrateStep trouble);
  void MarkDone(Migration& migration);  // EndTurn will finish it
  void Drop(const Channel& channel);
  void CloseLongestIdle();                            // if one is unused
  Channel* FindIdleChannel(const std::string& name);  // an unused link to this server

  void Finish(Migration& migration);  // unblocks the client, or deletes the keys if the client has gone
  MigrateOutcome CollectOutcome(Migration& migration);    // also ends the pause of requests for its keys
  Session* FindCaller(const Migration& migration) const;  // null: the client has gone
  void DeleteKeysOfGoneCaller(int db, const std::vector<std::string>& keys);
  void ResumePaused();  // requests that have waited for migrating keys
  int64_t NowMs() const;

  const Services& services_;
  MigrateLinks blocking_links_;                   // for MIGRATE inside EXEC and scripts
  std::list<std::unique_ptr<Channel>> channels_;  // links, also unused ones
  std::list<std::unique_ptr<Migration>> migrations_;
  size_t done_ = 0;          // of migrations_
  struct Told {              // the result, while the client's request runs again
    uint64_t session;        // its id
    MigrateOutcome outcome;  // of its MIGRATE
  };
  std::optional<Told> told_;
};

}  // namespace respite
