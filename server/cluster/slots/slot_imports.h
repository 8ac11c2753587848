// SlotImports: takes slots that other nodes send (SlotExport has the conversation).
//
// The commands of the keys run as those of any client, so the append-only file and replicas get them, too. The slots
// are hidden until this node owns them (HiddenSlots). Files and replicas hear of that as well:
//
//   CLUSTER SYNCSLOTS HIDE NAME name …    from here on the slots are hidden
//   CLUSTER SYNCSLOTS REVEAL NAME name    not any more: the keys are to be seen, or were deleted
//
// A session is bound to its import by ClientClusterState. When it ends before the slots are ours, their keys are
// deleted, some in each Turn. The same becomes of hidden slots that no session brings: those of a file that was loaded,
// and those of a replica that was promoted. Slots that this node owns by then are only shown: it was interrupted behind
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
#include "server/cluster/slots/job_log.h"
#include "server/cluster/slots/slot_changes.h"
#include "server/dataset/journal.h"
#include "server/execution/call_observer.h"

namespace respite {

class Cluster;
struct Services;
class Unit;

class SlotImports final : public CallObserver, public Journal {
 public:
  struct Parts {
    const Services& services;
    CallObservers& observers;
    const Role& role;
    JobLog& log;
  };
  explicit SlotImports(const Parts& parts) : parts_(parts) {}
  ~SlotImports() override;
  SlotImports(const SlotImports&) = delete;
  SlotImports& operator=(const SlotImports&) = delete;

  bool Empty() const { return imports_.empty(); }

  // --- CLUSTER SYNCSLOTS, of a source. Each throws a Refusal.

  struct Offer {
    NodeId source;
    std::string name;
    SlotSet slots;
  };
  // From now on the session may change keys of these slots, and of no others.
  void Establish(Session& session, const Offer& offer);
  void EndSnapshot(Session& session);
  // Nothing went wrong so far.
  void Acknowledge(Session& session);
  // The same, and no change is to follow: the source holds writes back for a while.
  void EndChanges(Session& session);
  // The slots are ours. Returns the epoch of the claim.
  uint64_t TakeOver(Session& session);

  // --- The same of the stream of our primary, or of a file.

  void Hide(const std::string& name, const SlotSet& slots);
  void Reveal(Bytes name);

  // At the end of a Turn.
  void EndTurn();
  // Ten times a second: sources that are silent.
  void CheckTime();
  // A session closes.
  void Forget(Session& session);

  // CallObserver, Journal
  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void Append(const UnitEffects& effects) override;

 private:
  struct Import {
    std::shared_ptr<SlotJob> job;
    Session* session;
    std::string trouble = {};  // empty: none yet
    int64_t heard_ms = 0;      // of the Pace
    int64_t complete_ms = -1;  // when the source said that it has sent everything; -1: not yet
  };

  Cluster& cluster() const;
  int64_t NowS() const;
  void CheckOffer(const Session& session, const Offer& offer) const;
  Import& Of(const Session& session);
  Import& SoundOne(const Session& session);
  void NoteTrouble(Session& session, Bytes error);
  void End(Import& import, SlotJob::State state, const std::string& message);
  void EndTroubled();
  // Deletes some keys of hidden slots that nobody brings any more.
  void CleanUp();
  // Of those that this process did not see failing: whether the others had the time to say who owns the slots.
  bool IsTold(const std::string& name);
  void ClaimUnowned(const SlotSet& slots);
  bool DeleteSome(const SlotSet& slots);
  // Shows the slots, here and in files and replicas.
  void Finish(const std::string& name);
  bool IsBrought(Bytes name) const;

  const Parts parts_;
  std::list<Import> imports_;
  std::set<std::string, std::less<>> failed_;            // names of hidden sets, to be deleted
  std::map<std::string, int64_t, std::less<>> orphans_;  // names of others that nobody brings, since when
  SlotChanges::Words words_;
};

}  // namespace respite
