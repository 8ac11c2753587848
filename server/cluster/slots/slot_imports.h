// SlotImports: receives slots that other nodes send (SlotExport describes the conversation).
//
// The source sends the keys as commands. The commands run like those of any client, so the append-only file and
// replicas also get them. Until this node owns the slots, their keys are hidden from other clients (HiddenSlots). Files
// and replicas are told which slots are hidden, as by Valkey 9:
//
//   CLUSTER SYNCSLOTS ESTABLISH NAME name SLOTSRANGE …           from here on the slots are hidden
//   CLUSTER SYNCSLOTS FINISH STATE SUCCESS|FAILED NAME name …    from here on the keys are visible, or were deleted
//
// ClientClusterState binds a session to its import. If the session ends before this node owns the slots, their keys
// are deleted, some in each turn.
//
// Slots may also be hidden although no session sends them: after a file was loaded, or a replica was promoted. Then
// this node waits for two node timeouts, so that other nodes can tell who owns the slots. After that, it claims the
// slots that no node owns. Hidden slots that this node owns now are revealed with their keys. The keys of all other
// hidden slots are deleted.
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
#include "server/cluster/slots/slot_change_collector.h"
#include "server/cluster/slots/slot_job.h"
#include "server/dataset/journal.h"
#include "server/execution/call_observer.h"
#include "server/storage/hidden_slots_text.h"

namespace respite {

class Cluster;
struct Services;

class SlotImports final : public CallObserver, public Journal {  // receives slots that other nodes send
 public:
  struct Parts {               // the arguments of the constructor
    const Services& services;  // the other parts of this server
    SlotJobLog& log;
  };
  explicit SlotImports(const Parts& parts) : parts_(parts) {}
  ~SlotImports() override;
  SlotImports(const SlotImports&) = delete;
  SlotImports& operator=(const SlotImports&) = delete;

  bool IsEmpty() const { return imports_.empty(); }  // no import is under way

  // --- CLUSTER SYNCSLOTS requests of a source. Each may throw a Refusal.

  struct Offer {       // the arguments of CLUSTER SYNCSLOTS ESTABLISH
    NodeId source;     // the node that gives the slots
    std::string name;  // name of the migration: 40 hexadecimal digits
    SlotSet slots;     // the slots that the source gives
  };
  // Begins an import. From now on, the session may change keys of the offered slots, and of no other slots.
  void Establish(Session& session, const Offer& offer);  // handles ESTABLISH: begins to import the offered slots
  void Acknowledge(Session& session);                    // handles ACK
  // Each of these throws a Refusal if the request does not follow the one before it, and so ends the import.
  void EndSnapshot(Session& session);  // handles SNAPSHOT-EOF: the keys as of the fork are complete
  void EndChanges(Session& session);   // handles PAUSED: the source has paused writes, and sends no more changes
  void EndStream(Session& session);    // handles STREAM-EOF of Redis: PAUSED and FAILOVER-GRANTED together
  void TakeOver(Session& session);     // handles FAILOVER-GRANTED: claims the slots, and closes the session

  void PropagateHiding(const SlotJob& job);                        // tells files and replicas that the slots are hidden
  void Fail(Session& session, const std::string& failure_reason);  // ends the import of the session, if it has one

  // --- CLUSTER SYNCSLOTS ESTABLISH and FINISH of the primary's replication stream or of an append-only file.

  void Hide(const std::string& name, const SlotSet& slots);  // hides the keys of the slots from clients
  void Reveal(Bytes name);  // shows clients the keys of the slots that Hide has hidden under this name

  void EndTurn();                 // ends failed imports; claims or deletes hidden slots that no import uses any more
  void CheckTimeouts();           // fails imports whose source is silent for longer than repl-timeout; sends ACKs
  void Forget(Session& session);  // called when a session closes: its import, if any, fails
  void Cancel(Bytes name);        // ends the import with this name, if it runs, because an operator has cancelled it

  // Functions of CallObserver and Journal, which are called while any import runs.
  void OnCall(const FinishedCall& call) override;      // a command of a source ran: notes the time, and its error
  void OnRefusal(const RefusedCall& call) override;    // a source's command was refused: its import fails
  void Append(const PropagatedGroup& group) override;  // FLUSHALL and similar commands of any client fail all imports

 private:
  struct Import {  // an import of slots that is under way
    std::shared_ptr<SlotJob> job;
    Session* session;                 // the session of the source
    std::string failure_reason = {};  // why the import has failed; empty: it has not failed
    int64_t last_request_ms = 0;      // when the source last sent a request (real time)
    int64_t changes_ended_ms = -1;    // when the source announced the end of its changes (real time); -1: not yet
    int64_t acked_ms = 0;             // when an ACK was last sent to the source (real time)
  };

  Cluster& cluster() const;                                           // this server as a cluster node
  int64_t NowMs() const;                                              // Unix time in milliseconds
  void CheckOffer(const Session& session, const Offer& offer) const;  // throws if these slots cannot be imported
  std::shared_ptr<SlotJob> JobOf(const Offer& offer);  // the job of a new import; throws if it must not begin
  Import& ImportOf(const Session& session);            // the import of the session; throws if it has none
  Import& TouchImport(const Session& session);  // the session's import, or throws (none, or failed); sets its acked_s
  void Advance(Import& import, SlotJob::State from,  // sets the state `to`; throws if the state is not `from`
               SlotJob::State to);
  void SendAck(Import& import);                          // sends CLUSTER SYNCSLOTS ACK to the source
  void MarkImportFailed(Session& session, Bytes error);  // fails the session's import, if any, in the next EndTurn
  void EndImport(Import& import, SlotJob::State state,   // ends the import; its job gets the state `state`
                 const std::string& message);
  void EndFailedImports();    // ends failed imports, and closes their sessions
  void CleanUpHiddenSlots();  // claims, reveals or empties hidden slots that no session sends any more
  // Hidden slots that no node sends wait for two node timeouts, so that other nodes can tell who owns the slots. The
  // first call for the migration `name` starts this wait; the result is true when the wait has ended. If the import
  // failed while this process was running, there is no wait.
  bool AdvanceOwnerWait(const std::string& name,  // begins or checks the wait for the slot owners; true: it has ended
                        const SlotSet& slots);
  void ClaimUnownedSlots(const SlotSet& slots);  // claims slots that have no owner, or that their owner disclaims
  bool DeleteSomeKeys(const SlotSet& slots);     // deletes at most kKeysPerTurn keys of the slots; true: no key is left
  void RevealAndPropagate(const std::string& name,  // makes the slots visible here, in files and in replicas
                          SlotImportEnd end);
  void Propagate(const std::vector<std::string>& request);  // appends the request to files and replicas
  bool HasRunningImport(Bytes name) const;  // true: slots of the migration with this name are being imported now

  const Parts parts_;                                // the arguments of the constructor
  std::list<Import> imports_;                        // the imports that are under way
  std::set<std::string, std::less<>> failed_names_;  // names of failed imports, whose keys must be deleted
  std::map<std::string, int64_t, std::less<>>
      orphaned_since_ms_;  // by migration name: when its slots were found without a source (real time)
  SlotChangeCollector::RequestSplitter splitter_;  // splits requests; a member only to reuse its memory
};

}  // namespace respite
