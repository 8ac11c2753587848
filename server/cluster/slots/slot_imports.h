// SlotImports: receives slots that other nodes send (SlotExport describes the conversation).
//
// The source sends the keys as commands. They run like commands of any client, so the append-only file and replicas
// also get them. The slots are hidden until this node owns them (HiddenSlots). Files and replicas are told which slots
// are hidden:
//
//   CLUSTER SYNCSLOTS HIDE NAME name …    from here on the slots are hidden
//   CLUSTER SYNCSLOTS REVEAL NAME name    from here on the keys are visible, or they were deleted
//
// ClientClusterState binds a session to its import. If the session ends before this node owns the slots, their keys
// are deleted, some in each turn.
//
// Slots may also be hidden without a session: after a file was loaded, or a replica promoted. Then this node waits for
// two node timeouts, so that other nodes can tell who owns the slots. It claims those that no node owns. Slots that
// this node owns now keep their keys, and are revealed: the server was interrupted during or after the takeover. The
// keys of all others are deleted.
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

class SlotImports final : public CallObserver, public Journal {  // receives slots that other nodes send
 public:
  struct Parts {  // the arguments of the constructor
    const Services& services;
    SlotJobLog& log;
  };
  explicit SlotImports(const Parts& parts) : parts_(parts) {}
  ~SlotImports() override;
  SlotImports(const SlotImports&) = delete;
  SlotImports& operator=(const SlotImports&) = delete;

  bool IsEmpty() const { return imports_.empty(); }  // no import is under way

  // --- CLUSTER SYNCSLOTS requests of a source. Each may throw a Refusal.

  struct Offer {    // the arguments of CLUSTER SYNCSLOTS ESTABLISH
    NodeId source;  // the node that gives the slots
    std::string name;
    SlotSet slots;  // the slots that are offered
  };
  // Begins an import. From now on the session may change keys of these slots, and of no others.
  void Establish(Session& session, const Offer& offer);  // begins an import
  void EndSnapshot(Session& session);                    // handles SNAPSHOT-EOF: the keys as of the fork are complete
  void Acknowledge(Session& session);                    // handles ACK; throws if a command of the import has failed
  // Handles PAUSED: the source has paused writes, so no more changes will come. Throws a Refusal if a command of the
  // import has failed, or if the snapshot is not complete.
  void EndChanges(Session& session);    // handles PAUSED: the source sends no more changes
  uint64_t TakeOver(Session& session);  // handles TAKEOVER: claims the slots, and returns the epoch of the claim

  // --- Hidden slots in the stream of the primary, or in a file.

  void Hide(const std::string& name, const SlotSet& slots);
  void Reveal(Bytes name);  // the slots of this name are not hidden any more

  void EndTurn();                 // ends imports with errors, and cleans up hidden slots that no import uses any more
  void CheckTimeouts();           // fails imports whose source is silent for longer than repl-timeout
  void Forget(Session& session);  // the session closes: its import fails, if it has one

  // The functions of CallObserver and Journal.
  void OnCall(const FinishedCall& call) override;        // a failed command fails its import
  void OnRefusal(const RefusedCall& call) override;      // a refused command fails its import
  void Append(const PropagatedGroup& effects) override;  // fails all imports at FLUSHALL

 private:
  struct Import {  // an import that a session receives
    std::shared_ptr<SlotJob> job;
    Session* session;          // the session of the source
    std::string trouble = {};  // the first error of the import; empty: none yet
    int64_t heard_ms = 0;      // real elapsed time at which the source was last heard
    int64_t complete_ms = -1;  // real elapsed time at which the source had sent everything; -1: not yet
  };

  Cluster& cluster() const;                                           // the cluster of this server
  int64_t NowS() const;                                               // UNIX time
  void CheckOffer(const Session& session, const Offer& offer) const;  // throws if it cannot be accepted
  Import& ImportOf(const Session& session);               // the import of the session; throws if it has none
  Import& GetHealthyImport(const Session& session);       // throws if the session has none, or a failed one
  void RecordImportError(Session& session, Bytes error);  // its import will end as failed
  void EndImport(Import& import, SlotJob::State state, const std::string& message);  // with this result
  void EndFailedImports();    // ends failed imports, and closes their sessions
  void CleanUpHiddenSlots();  // deletes some keys of hidden slots that no session sends any more
  // Returns whether other nodes have had time to tell who owns these slots. Returns true immediately if the import has
  // failed in this process.
  bool ContinueWaitForOwners(const std::string& name);  // true: other nodes could tell by now who owns the slots
  void ClaimUnownedSlots(const SlotSet& slots);         // claims those of the slots that no node owns
  bool DeleteSomeKeys(const SlotSet& slots);            // true: no keys of the slots are left
  void RevealAndPropagate(const std::string& name);     // makes the slots visible here, in files and in replicas
  bool HasRunningImport(Bytes name) const;              // a source sends slots under this name now

  const Parts parts_;                                // the arguments of the constructor
  std::list<Import> imports_;                        // the imports that are under way
  std::set<std::string, std::less<>> failed_names_;  // names of failed imports, whose keys must be deleted
  std::map<std::string, int64_t, std::less<>>
      orphaned_since_ms_;  // by migration name: real elapsed time when its slots were found without a source
  SlotChanges::RequestSplitter words_;  // reused for each request
};

}  // namespace respite
