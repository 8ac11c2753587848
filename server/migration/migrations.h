// Migrations: transfers of MIGRATE, each over a Link, while other clients are served.
//
//   MIGRATE ─► Start ─► kConnecting ─► kTransferring ─► kDone ─► end of the turn: the request runs again (TakeOutcome)
//                           │              └─ the link breaks before an answer: one more attempt, over a new link
//                           └─ skipped if a kept link is used
//
// The values are serialised when the command is called. MigratingKeys pauses requests for the keys until the transfer
// has ended. If the client has gone when the transfer ends, the keys that have arrived are still deleted (except for
// COPY). A transfer that ends during CLIENT PAUSE or another pause is finished after the pause.
//
// Inside EXEC and scripts, MIGRATE must be atomic with the other commands. There it uses the blocking MigrateLink.
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

struct MigrateOutcome {                                      // the result of one MIGRATE
  FailedMigrateStep failed_step = FailedMigrateStep::kNone;  // the step that failed; kNone: none did
  std::string error = {};                                    // the error of the other server; empty: none
  std::vector<std::string> moved = {};  // keys to delete here: the other server has them, and they have not changed
  bool kept_changed_keys = false;       // true: some keys that were sent have changed here meanwhile, so they are kept
};

// Deletes the keys that the other server has stored, and makes `effect` propagate DEL of these keys instead of MIGRATE.
void DeleteMovedKeys(const Services& services, DbView& db,  // deletes here the keys that the target of MIGRATE now has
                     Propagation& effect, const std::vector<std::string>& keys);

class Migrations final : public Timers::Source {  // transfers of MIGRATE that do not block other clients
 public:
  struct MigrateArguments {  // the arguments of one MIGRATE
    std::string host;
    std::string port;
    bool uses_tls;             // the connection uses TLS
    int64_t timeout_ms;        // how many ms the transfer may make no progress
    bool copies;               // COPY: the keys are also kept here
    MigrateProtocol protocol;  // the requests, with the serialised keys, and the answers so far
  };
  static constexpr size_t kMaxLinks = 64;     // with 64 links, a new one first closes an unused one, if there is any
  static constexpr int64_t kIdleMs = 10'000;  // how long an unused link is kept, in ms

  explicit Migrations(const Services& services);
  ~Migrations() override;

  bool HasNetwork() const { return static_cast<bool>(services_.env.network); }  // false: cannot Start
  // Starts a transfer. Requires: HasNetwork(), none of the keys is being migrated, and this command blocks the session
  // from now on.
  void Start(const Session& session, const Command& command, MigrateArguments arguments);  // begins the transfer
  std::optional<MigrateOutcome> TakeOutcome(  // the result, once, while the session's MIGRATE runs again; else nullopt
      const Session& session);

  void EndTurn();  // after each turn: calls Finish for transfers that have ended, except during a pause or a long task
  // The functions of Timers::Source, for timeouts.
  int64_t NextDueMs() const override;    // when RunDue must run next (clock time)
  void RunDue(int64_t now_ms) override;  // fails transfers without progress for their timeout
  std::string NextDueText() const override { return "MIGRATE times out"; }  // what is due, for logs
  void CloseIdleLinks(int64_t now_ms);                                      // closes links that were unused for kIdleMs
  void CloseUnusedLinks();                                                  // closes all unused links now
  MigrateLinks& blocking_links() { return blocking_links_; }  // connections for MIGRATE inside EXEC and scripts
  size_t CountLinks() const { return channels_.size(); }      // links, except those of MIGRATE in EXEC and scripts

 private:
  class Channel;
  struct Migration;

  void Attempt(Migration& migration);                     // begins the transfer over a kept link or a new one
  void Connect(Migration& migration);                     // begins the transfer over a new link
  void Transfer(Channel& channel, Migration& migration);  // sends all requests of the transfer over this link
  void HandleLastAnswer(Channel& channel);  // the last answer has come: ends the transfer, keeps the link for reuse
  void HandleLostLink(Channel& channel);    // drops the link; its transfer fails, or is tried again, at most one time
  void RestartTimer(Migration& migration) const;                   // after progress: the timeout begins again
  void ScheduleCheck(Migration& migration) const;                  // sets when RunDue must check the migration next
  void Fail(Migration& migration, FailedMigrateStep failed_step);  // ends the transfer without success
  void MarkDone(Migration& migration);                             // notes that the transfer has ended, for EndTurn
  void Drop(const Channel& channel);
  void CloseLongestIdle();  // closes the unused link that was last used longest ago, if any is unused
  Channel* FindIdleChannel(const std::string& name);  // an unused link to this server; null: none

  void Finish(Migration& migration);  // the client's MIGRATE runs again; if no client waits, deletes the moved keys
  MigrateOutcome CollectOutcome(Migration& migration);    // returns the result; requests for the keys no longer wait
  Session* FindCaller(const Migration& migration) const;  // the client that waits; null: gone, or waits no longer
  void DeleteKeysOfGoneCaller(int db,  // deletes moved keys here, since the client of MIGRATE no longer waits
                              const std::vector<std::string>& keys);
  void ResumePausedRequests();  // queues all requests that waited for migrating keys; they are checked again
  int64_t NowMs() const;        // monotonic time of the server's clock, in ms

  const Services& services_;                          // the other parts of this server
  MigrateLinks blocking_links_;                       // for MIGRATE inside EXEC and scripts
  std::list<std::unique_ptr<Channel>> channels_;      // all links, used and unused
  std::list<std::unique_ptr<Migration>> migrations_;  // the transfers that run, or have ended and are not finished
  size_t done_count_ = 0;                             // number of ended transfers in migrations_
  struct CurrentOutcome {    // the result that TakeOutcome returns while a client's request runs again
    uint64_t session;        // id of the client's session
    MigrateOutcome outcome;  // how the MIGRATE has ended
  };
  std::optional<CurrentOutcome> current_outcome_;  // set while a client's MIGRATE runs again; otherwise nullopt
};

}  // namespace respite
