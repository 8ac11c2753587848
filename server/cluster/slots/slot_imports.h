// SlotImports: receives slots that other nodes send (SlotExport describes the conversation).
//
// The commands of the keys run like those of any client, so the append-only file and replicas also get them. The slots
// are hidden until this node owns them (HiddenSlots). Files and replicas are also told that:
//
//   CLUSTER SYNCSLOTS HIDE NAME name …    from here on the slots are hidden
//   CLUSTER SYNCSLOTS REVEAL NAME name    from here on the keys are visible, or they were deleted
//
// ClientClusterState binds a session to its import. If the session ends before this node owns the slots, their keys
// are deleted, some in each turn. Hidden slots without a session are also deleted: those of a loaded file, and those
// of a promoted replica. Slots that this node owns by then are only revealed, because the server was interrupted after
// the takeover.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "server/clients/role.h"
#include "server/cluster/slots/slot_changes.h"
#include "server/cluster/slots/slot_job.h"
#include "server/dataset/journal.h"
#include "server/execution/call_observer.h"

namespace respite {

class Cluster;
struct Services;

class SlotImports final : public CallObserver, public Journal {
 public:
  struct Parts {
    const Services& services;
    JobLog& log;
  };
  explicit SlotImports(const Parts& parts) : parts_(parts) {}
  ~SlotImports() override;
  SlotImports(const SlotImports&) = delete;
  SlotImports& operator=(const SlotImports&) = delete;

  bool Empty() const { return imports_.empty(); }

  // --- CLUSTER SYNCSLOTS requests of a source. Each throws a Refusal.

  struct Offer {
    NodeId source;
    std::string name;
    SlotSet slots;
  };
  // Begins an import. From now on the session may change keys of these slots, and of no others.
  void Establish(Session& session, const Offer& offer);
  void EndSnapshot(Session& session);
  // Does nothing, but throws if a command of the import has failed so far.
  void Acknowledge(Session& session);
  // Notes that the import is complete. Throws if a command of the import has failed so far. The source sends no more
  // changes, because it has paused writes for a while.
  void EndChanges(Session& session);
  // Makes this node the owner of the slots. Returns the epoch of the claim.
  uint64_t TakeOver(Session& session);

  // --- Hidden slots in the stream of the primary, or in a file.

  void Hide(const std::string& name, const SlotSet& slots);
  void Reveal(Bytes name);

  // Ends imports with errors, and cleans up hidden slots that no import uses any more. Called at the end of a turn.
  void EndTurn();
  // Finds sources that are silent for longer than repl-timeout. Called ten times a second.
  void CheckTime();
  // Fails the import of this session, if there is one. Called when a session closes.
  void Forget(Session& session);

  // CallObserver, Journal
  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void Append(const UnitEffects& effects) override;

 private:
  struct Import {
    std::shared_ptr<SlotJob> job;
    Session* session;
    std::string trouble = {};  // the first error; empty: none yet
    int64_t heard_ms = 0;      // Pace time at which the source was last heard
    int64_t complete_ms = -1;  // Pace time at which the source had sent everything; -1: not yet
  };

  Cluster& cluster() const;
  int64_t NowS() const;
  void CheckOffer(const Session& session, const Offer& offer) const;
  Import& Of(const Session& session);
  Import& SoundOne(const Session& session);
  void NoteTrouble(Session& session, Bytes error);
  void End(Import& import, SlotJob::State state, const std::string& message);
  void EndTroubled();
  // Deletes some keys of hidden slots that no session sends any more.
  void CleanUp();
  // Returns whether other nodes have had time to tell who owns these slots. True for imports that failed in this
  // process.
  bool IsTold(const std::string& name);
  void ClaimUnowned(const SlotSet& slots);
  bool DeleteSome(const SlotSet& slots);
  // Reveals the slots, here and in files and replicas.
  void Finish(const std::string& name);
  bool IsBrought(Bytes name) const;

  const Parts parts_;
  std::list<Import> imports_;
  std::set<std::string, std::less<>> failed_;            // names of hidden sets to delete
  std::map<std::string, int64_t, std::less<>> orphans_;  // other hidden sets without a session, and since when
  SlotChanges::Words words_;
};

}  // namespace respite
