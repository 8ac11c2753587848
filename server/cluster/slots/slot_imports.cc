#include "server/cluster/slots/slot_imports.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/refusal.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "protocol/request_text.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/session.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/dataset/unit.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/runtime/host.h"
#include "server/runtime/server_phase.h"

namespace respite {

namespace {

using State = SlotJob::State;

constexpr size_t kKeysPerTurn = 1000;
// The maximum time, in ms, between two requests of the source of a migration: PAUSED (no changes will follow) and
// FAILOVER-GRANTED. If the second comes later, the import fails. After FAILOVER-GRANTED, the source pauses its writes
// for longer than this: Valkey for at least 2 s, Respite for 5 s.
constexpr int64_t kTakeOverMs = 1500;
constexpr int64_t kNodeTimeouts = 2;  // time for other nodes to tell who owns which slot

constexpr char kOnlyPrimaries[] = "ERR Slot migration can only be used on primary nodes";
constexpr char kOneAtATime[] = "ERR This client sends slots already";
constexpr char kOutOfOrder[] = "ERR This request does not follow the last one of the slot migration";
constexpr char kClusterIsDown[] = "ERR The cluster is down, so another node may own the slots now";
constexpr char kTooLate[] = "ERR The takeover comes too late";
constexpr char kNoImport[] = "ERR No slot migration was established by this client";
constexpr char kNotRequested[] = "ERR The slot migration of this name has ended or is for other slots";
constexpr char kNameTaken[] = "ERR There is a slot migration of this name already";
constexpr char kManual[] = "ERR Slots are being manually imported or migrated";
Refusal UnknownSource(const NodeId& id) { return {"ERR Unknown node name: " + id.String()}; }
Refusal NotOfSource(int slot) { return {StrCat("ERR Slot ", slot, " is not served by the source")}; }
Refusal AlreadyImported(int slot) { return {StrCat("ERR I am already importing slot ", slot)}; }
Refusal HasKeys(int slot) { return {StrCat("ERR There are keys of slot ", slot, " already")}; }
Refusal Broken(const std::string& failure_reason) { return {"ERR The slot migration failed: " + failure_reason}; }

}  // namespace

SlotImports::~SlotImports() {
  parts_.services.execution.observers.Detach(*this);
  parts_.services.data.dataset.journals.Detach(*this);
}

Cluster& SlotImports::cluster() const { return *parts_.services.cluster.cluster(); }

int64_t SlotImports::NowMs() const { return parts_.services.env.clock.WallMs(); }

// --- Requests of the source.

void SlotImports::CheckOffer(const Session& session, const Offer& offer) const {
  const ClusterView& view = cluster().view();
  const Keyspace& keyspace = parts_.services.data.dataset.keyspace;
  if (!view.me().IsPrimary()) throw Refusal{kOnlyPrimaries};
  if (session.cluster_options.imports != nullptr) throw Refusal{kOneAtATime};
  const ClusterNode* const source = view.Find(offer.source);
  if (source == nullptr) throw UnknownSource(offer.source);
  if (view.HasMovingSlots()) throw Refusal{kManual};
  if (keyspace.hidden().All().contains(offer.name)) throw Refusal{kNameTaken};
  offer.slots.ForEach([&](int slot) {
    if (view.Owner(slot) != source || source == &view.me()) throw NotOfSource(slot);
    if (keyspace.hidden().Has(slot)) throw AlreadyImported(slot);
    if (keyspace.CountKeysInSlot(slot) != 0) throw HasKeys(slot);
  });
}

// Returns the job of a migration that the source begins: the import that this node has requested under this name
// (CLUSTER MIGRATION IMPORT), or else a new one. Throws a Refusal if the requested import was cancelled or has other
// slots.
std::shared_ptr<SlotJob> SlotImports::JobOf(const Offer& offer) {
  const int64_t now_ms = NowMs();
  auto requested = parts_.log.Find(offer.name, SlotJob::Operation::kImport);
  if (requested != nullptr && requested->state == State::kCancelled) throw Refusal{kNotRequested};
  if (requested != nullptr && !requested->IsOver()) {
    if (requested->slots != offer.slots) throw Refusal{kNotRequested};
    requested->SetState(State::kWaitingForAck, now_ms);
    requested->acked_s = now_ms / 1000;
    return requested;
  }
  return parts_.log.Add({.name = offer.name,
                         .operation = SlotJob::Operation::kImport,
                         .slots = offer.slots,
                         .source = offer.source,
                         .target = cluster().view().me().id,
                         .state = State::kWaitingForAck,
                         .created_ms = now_ms,
                         .started_ms = now_ms,
                         .updated_s = now_ms / 1000,
                         .acked_s = now_ms / 1000});
}

void SlotImports::Establish(Session& session, const Offer& offer) {
  CheckOffer(session, offer);
  const Services& services = parts_.services;
  if (imports_.empty()) {
    parts_.services.execution.observers.Attach(*this);
    services.data.dataset.journals.Attach(*this);
  }
  Import& import = imports_.emplace_back(Import{JobOf(offer), &session});
  import.last_request_ms = services.env.real_clock.NowMs();
  services.data.dataset.keyspace.hidden().Hide(offer.name, offer.slots);
  session.cluster_options.imports = &import.job->slots;
  services.env.log.Notice(StrCat("Slot migration ", offer.name, ": importing ", offer.slots.Count(),
                                 " slots from node ", offer.source.String()));
}

SlotImports::Import& SlotImports::ImportOf(const Session& session) {
  const auto found = std::ranges::find(imports_, &session, &Import::session);
  if (found == imports_.end()) throw Refusal{kNoImport};
  return *found;
}

SlotImports::Import& SlotImports::TouchImport(const Session& session) {
  Import& import = ImportOf(session);
  import.job->acked_s = NowMs() / 1000;
  if (!import.failure_reason.empty()) throw Broken(import.failure_reason);
  return import;
}

void SlotImports::Advance(Import& import, State from, State to) {
  if (import.job->state != from) throw Refusal{kOutOfOrder};
  import.job->SetState(to, NowMs());
}

void SlotImports::Acknowledge(Session& session) {
  Import& import = TouchImport(session);
  if (import.job->state == State::kWaitingForAck) import.job->SetState(State::kReceivingSnapshot, NowMs());
}

void SlotImports::EndSnapshot(Session& session) {
  Advance(TouchImport(session), State::kReceivingSnapshot, State::kFollowing);
}

void SlotImports::EndChanges(Session& session) {
  Import& import = TouchImport(session);
  Advance(import, State::kFollowing, State::kFailoverRequested);
  import.changes_ended_ms = parts_.services.env.real_clock.NowMs();
}

void SlotImports::EndStream(Session& session) {
  EndChanges(session);
  TakeOver(session);
}

void SlotImports::TakeOver(Session& session) {
  Import& incoming = TouchImport(session);
  const ClusterView& view = cluster().view();
  const ClusterNode* const source = view.Find(incoming.job->source);
  if (!view.me().IsPrimary()) throw Refusal{kOnlyPrimaries};
  if (incoming.job->state != State::kFailoverRequested) throw Refusal{kOutOfOrder};
  if (parts_.services.env.real_clock.NowMs() - incoming.changes_ended_ms > kTakeOverMs) throw Refusal{kTooLate};
  if (!view.is_ok) throw Refusal{kClusterIsDown};
  incoming.job->slots.ForEach([&](int slot) {
    if (source == nullptr || view.Owner(slot) != source) throw NotOfSource(slot);
  });
  cluster().TakeSlots(incoming.job->slots);
  EndImport(incoming, State::kSuccess, "");
  session.close_after_reply = true;
  parts_.services.clients.registry.QueueFlush(session);
}

// --- The commands CLUSTER SYNCSLOTS ESTABLISH and FINISH, which arrive in the primary's replication stream or are in
// an append-only file.

void SlotImports::Hide(const std::string& name, const SlotSet& slots) {
  Keyspace& keyspace = parts_.services.data.dataset.keyspace;
  if (keyspace.index() == Keyspace::Index::kBySlot) keyspace.hidden().Hide(name, slots);
}

void SlotImports::Reveal(Bytes name) { parts_.services.data.dataset.keyspace.hidden().Reveal(name); }

// --- Errors.

// Makes the import of this session fail, because a command of the source node has failed here, so the keys differ from
// the keys at the source. The source learns of the failure when its connection ends.
void SlotImports::MarkImportFailed(Session& session, Bytes error) {
  if (session.cluster_options.imports == nullptr) return;
  Import& import = ImportOf(session);
  if (import.failure_reason.empty()) import.failure_reason = error.empty() ? "a command failed" : std::string(error);
}

void SlotImports::OnCall(const FinishedCall& call) {
  if (call.session.cluster_options.imports == nullptr) return;
  ImportOf(call.session).last_request_ms = parts_.services.env.real_clock.NowMs();
  if (call.ending == FinishedCall::Ending::kFailed) MarkImportFailed(call.session, call.error);
}

void SlotImports::OnRefusal(const RefusedCall& call) { MarkImportFailed(call.session, call.error); }

void SlotImports::Append(const PropagatedGroup& group) {
  for (size_t i = 0; i < group.Count(); ++i) {
    if (!SlotChangeCollector::ChangesEverything(parts_.services.env.commands, splitter_.ArgumentsOf(group[i].request)))
      continue;
    for (Import& import : imports_) import.failure_reason = "all keys were changed at once";
  }
}

void SlotImports::Forget(Session& session) { Fail(session, "the source has gone"); }

void SlotImports::Fail(Session& session, const std::string& failure_reason) {
  const auto found = std::ranges::find(imports_, &session, &Import::session);
  if (found == imports_.end()) return;
  const std::string message = found->failure_reason.empty() ? failure_reason : found->failure_reason;
  EndImport(*found, State::kFailed, message);
}

void SlotImports::Cancel(Bytes name) {
  const auto found = std::ranges::find_if(imports_, [&](const Import& one) { return one.job->name == name; });
  if (found == imports_.end()) return;
  Session& session = *found->session;
  EndImport(*found, State::kCancelled, "by an operator");
  session.close_after_reply = true;
  parts_.services.clients.registry.QueueFlush(session);
}

void SlotImports::CheckTimeouts() {
  const int64_t now_ms = parts_.services.env.real_clock.NowMs();
  const int64_t limit_ms = int64_t{parts_.services.env.settings.repl_timeout} * 1000;
  for (Import& import : imports_) {
    const bool is_silent = now_ms - import.last_request_ms > limit_ms;
    if (is_silent && import.failure_reason.empty()) import.failure_reason = "the source is silent";
    if (import.session->cluster_options.is_internal) continue;  // SlotSourceLink sends ACK
    if (import.job->state != State::kWaitingForAck && now_ms - import.acked_ms >= kSlotAckEveryMs) SendAck(import);
  }
}

void SlotImports::SendAck(Import& import) {
  import.acked_ms = parts_.services.env.real_clock.NowMs();
  std::string text;
  AppendRequest(text, {"CLUSTER", "SYNCSLOTS", "ACK"});
  import.session->out.Append(text);
  parts_.services.clients.registry.QueueFlush(*import.session);
}

// Ends an import. After a success, the slots become visible. After a failure they stay hidden until CleanUpHiddenSlots
// has deleted their keys. Keys of slots that this node owns are not deleted. A replica deletes nothing: its primary has
// the same hidden slots and deletes the keys.
void SlotImports::EndImport(Import& import, State state, const std::string& message) {
  const Services& services = parts_.services;
  const std::shared_ptr<SlotJob> job = import.job;
  import.session->cluster_options.imports = nullptr;
  imports_.remove_if([&](const Import& one) { return &one == &import; });
  if (imports_.empty()) {
    parts_.services.execution.observers.Detach(*this);
    services.data.dataset.journals.Detach(*this);
  }
  job->message = message;
  job->SetState(state, NowMs());
  if (state == State::kSuccess) {
    services.env.log.Notice("Slot migration " + job->name + ": this node owns the slots now.");
    return RevealAndPropagate(job->name, SlotImportEnd::kSuccess);
  }
  failed_names_.insert(job->name);
  services.env.log.Warning("Slot migration " + job->name + " failed: " + message);
}

// --- Each turn.

void SlotImports::EndTurn() {
  if (!imports_.empty()) EndFailedImports();
  if (!parts_.services.data.dataset.keyspace.hidden().IsEmpty()) CleanUpHiddenSlots();
}

void SlotImports::EndFailedImports() {
  std::vector<Session*> broken;
  for (Import& import : imports_) {
    if (parts_.services.clients.role.is_replica && import.failure_reason.empty())
      import.failure_reason = "this node is no primary any more";
    if (!import.failure_reason.empty()) broken.push_back(import.session);
  }
  for (Session* session : broken) {
    Forget(*session);
    session->close_after_reply = true;
    parts_.services.clients.registry.QueueFlush(*session);
  }
}

bool SlotImports::HasRunningImport(Bytes name) const {
  return std::ranges::any_of(imports_, [name](const Import& import) { return import.job->name == name; });
}

void SlotImports::CleanUpHiddenSlots() {
  const Services& services = parts_.services;
  if (parts_.services.clients.role.is_replica) return orphaned_since_ms_.clear();
  if (services.env.phase.IsInLongTask() || services.env.phase.load() != ServerPhase::Load::kNone) return;
  const HiddenSlots& hidden = services.data.dataset.keyspace.hidden();
  const auto orphan = std::ranges::find_if(hidden.All(), [this](const auto& one) {
    return !HasRunningImport(one.first) && AdvanceOwnerWait(one.first, one.second);
  });
  if (orphan == hidden.All().end()) return;
  const ClusterView& view = cluster().view();
  const std::string name = orphan->first;
  if (!failed_names_.contains(name)) ClaimUnownedSlots(orphan->second);
  SlotSet foreign;
  orphan->second.ForEach([&](int slot) {
    if (view.Owner(slot) != &view.me()) foreign.Add(slot);
  });
  if (DeleteSomeKeys(foreign))
    RevealAndPropagate(name, foreign.IsEmpty() ? SlotImportEnd::kSuccess : SlotImportEnd::kFailure);
  if (services.env.host) services.env.host->Post([] {});  // the next turn continues
}

bool SlotImports::AdvanceOwnerWait(const std::string& name, const SlotSet& slots) {
  if (failed_names_.contains(name)) return true;
  const ClusterView& view = cluster().view();
  bool owns_all = true;
  slots.ForEach([&](int slot) { owns_all = owns_all && view.Owner(slot) == &view.me(); });
  if (owns_all) return true;  // this node had taken the slots over before it stopped, or was promoted
  const int64_t now_ms = parts_.services.env.real_clock.NowMs();
  const int64_t since_ms = orphaned_since_ms_.try_emplace(name, now_ms).first->second;
  return now_ms - since_ms >= kNodeTimeouts * parts_.services.env.settings.cluster_node_timeout;
}

// Makes this node the owner of those of `slots` that have no owner, or that their owner no longer claims. Called for
// slots that are still hidden from clients although no import of them runs, after a file was loaded or this node was
// promoted. Probably this node had taken the slots over, but the append-only file or the replication stream ended
// between HIDE and REVEAL. If the source lost the slots in another way, keeping the keys here is better than deleting
// them.
void SlotImports::ClaimUnownedSlots(const SlotSet& slots) {
  const ClusterView& view = cluster().view();
  SlotSet unowned;
  slots.ForEach([&](int slot) {
    if (view.Owner(slot) == nullptr || view.disclaimed_slots.Has(slot)) unowned.Add(slot);
  });
  if (unowned.IsEmpty()) return;
  parts_.services.env.log.Warning(
      StrCat("Claiming ", unowned.Count(), " slots that were taken over, and that nobody owns"));
  cluster().TakeSlots(unowned);
}

// Deletes at most kKeysPerTurn keys of the slots. Returns true if no key is left.
bool SlotImports::DeleteSomeKeys(const SlotSet& slots) {
  Dataset& data = parts_.services.data.dataset;
  Unit unit(data, parts_.services.env.clock.WallMs(), ExpiryRule::kIgnoreDeadlines);
  size_t left = kKeysPerTurn;
  for (int db = 0; db < data.keyspace.Count(); ++db) {
    slots.ForEach([&](int slot) {
      if (left == 0) return;
      const std::vector<std::string> some = data.keyspace[db].by_slot()->Some(slot, left);
      for (const std::string& key : some) unit.RemoveKeyOfForeignSlot(db, data.keyspace[db].Find(key));
      left -= some.size();
    });
  }
  unit.Close(Unit::Grouping::kApart);
  return left != 0;
}

void SlotImports::RevealAndPropagate(const std::string& name, SlotImportEnd end) {
  Reveal(name);
  failed_names_.erase(name);
  orphaned_since_ms_.erase(name);
  Propagate(FinishImportRequest(name, end));
}

void SlotImports::PropagateHiding(const SlotJob& job) { Propagate(HideSlotsRequest(job.name, job.slots)); }

void SlotImports::Propagate(const std::vector<std::string>& request) {
  Unit unit(parts_.services.data.dataset, parts_.services.env.clock.WallMs(), ExpiryRule::kIgnoreDeadlines);
  Propagation effect(unit.IsRecording());
  effect.Replace(request);
  unit.Record(0, effect, {});
  unit.Close();
}

}  // namespace respite
