#include "server/cluster/slots/slot_migrations.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/real_clock.h"
#include "base/refusal.h"
#include "datatypes/keyspace.h"
#include "server/clients/client_subsystem.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/services.h"

namespace respite {

namespace {

constexpr int64_t kTickMs = 100;
constexpr char kAnotherTask[] = "ERR Another ASM task is already in progress";
constexpr char kAnotherMigration[] = "ERR Another migration task is already in progress";
constexpr char kUnknownDestination[] = "ERR The node has not told its ID by CLUSTER SYNCSLOTS CONF NODE-ID";

User MakeInternalUser(const Services& services) {
  const AclPubsubDefault pubsub = services.env.settings.acl_pubsub_default;
  User user("internal connection", services.env.commands, AclPubsubDefault::kResetChannels);
  for (const char* rule : {"on", "nopass", "+cluster|syncslots", "+ping"}) user.Apply(rule, pubsub);
  return user;
}

}  // namespace

SlotMigrations::SlotMigrations(const Services& services, uint64_t random_seed)
    : services_(services),
      internal_user_(MakeInternalUser(services)),
      random_(random_seed),
      imports_({services, log_}) {}

void SlotMigrations::Close() {
  while (!exports_.empty())
    exports_.pop_front();  // not clear(): the end of an export may close sessions, and call Forget
  request_.reset();
  is_closed_ = true;
}

void SlotMigrations::Export(const SlotSet& slots, const NodeId& target) {
  Export(slots, target, NodeId::Draw(random_).String());
}

void SlotMigrations::Export(const SlotSet& slots, const NodeId& target, const std::string& name) {
  SlotJob job = NewJob(name, SlotJob::Operation::kExport, slots);
  job.source = services_.cluster.cluster()->view().me().id;
  job.target = target;
  // Removes the earlier job of this name from the log: if an export has failed, the target requests it again under the
  // same name.
  if (const auto former = log_.Find(name, SlotJob::Operation::kExport)) log_.Remove(former);
  exports_.emplace_back(services_, log_.Add(std::move(job)));
}

void SlotMigrations::Sync(Session& session, const std::string& name, const SlotSet& slots) {
  const auto node = targets_.find(&session);
  if (node == targets_.end()) throw Refusal{kUnknownDestination};
  if (!exports_.empty()) throw Refusal{kAnotherTask};
  Export(slots, node->second, name);
  exports_.back().Sync(session);
}

void SlotMigrations::SendSnapshotTo(Session& session, Bytes name) {
  const bool waits = !exports_.empty() && exports_.front().job().name == name &&
                     exports_.front().job().state == SlotJob::State::kEstablishing && !exports_.front().IsMain(session);
  if (!waits) throw Refusal{kAnotherMigration};
  exports_.front().SendSnapshotTo(session);
}

void SlotMigrations::HandleAck(const Session& session, Bytes state, int64_t offset) {
  if (!exports_.empty() && exports_.front().IsMain(session)) exports_.front().HandleAck(state, offset);
}

void SlotMigrations::Forget(Session& session) {
  imports_.Forget(session);
  targets_.erase(&session);
  for (SlotExport& one : exports_) one.Forget(session);
}

std::string SlotMigrations::Import(const SlotSet& slots, const NodeId& source) {
  SlotJob job = NewJob(NodeId::Draw(random_).String(), SlotJob::Operation::kImport, slots);
  job.source = source;
  job.target = services_.cluster.cluster()->view().me().id;
  request_.emplace(services_, imports_, log_.Add(std::move(job)));
  return request_->job().name;
}

const SlotJob* SlotMigrations::FindRequest() const {
  return request_ && !request_->IsOver() ? &request_->job() : nullptr;
}

size_t SlotMigrations::Cancel(Bytes name) {
  const auto is_meant = [&](const SlotJob& job) { return name.empty() || job.name == name; };
  size_t count = 0;
  if (request_ && !request_->IsOver() && is_meant(request_->job())) {
    const std::string cancelled = request_->job().name;
    request_->Cancel("Cancelled due to user request");
    imports_.Cancel(cancelled);
    ++count;
  }
  for (SlotExport& one : exports_) {
    if (is_meant(one.job()) && one.Cancel()) ++count;
  }
  return count;
}

SlotJob SlotMigrations::NewJob(const std::string& name, SlotJob::Operation operation, const SlotSet& slots) const {
  const int64_t now_ms = services_.env.clock.WallMs();
  return {.name = name,
          .operation = operation,
          .slots = slots,
          .state = SlotJob::State::kQueued,
          .created_ms = now_ms,
          .started_ms = now_ms,
          .updated_s = now_ms / 1000,
          .acked_s = now_ms / 1000};
}

std::optional<int> SlotMigrations::FindExportedSlot(const SlotSet& slots) const {
  std::optional<int> found;
  for (const SlotExport& one : exports_) {
    if (one.job().IsOver()) continue;
    slots.ForEach([&](int slot) {
      if (!found && one.job().slots.Has(slot)) found = slot;
    });
  }
  return found;
}

bool SlotMigrations::IsExporting(Bytes name) const {
  return std::ranges::any_of(exports_,
                             [name](const SlotExport& one) { return !one.IsOver() && one.job().name == name; });
}

bool SlotMigrations::CancelExports() {
  bool any = false;
  for (SlotExport& one : exports_) any = one.Cancel() || any;
  return any;
}

std::vector<SlotJob> SlotMigrations::Jobs() const {
  std::vector<SlotJob> jobs;
  if (services_.clients.role.is_replica) {
    for (const auto& [name, slots] : services_.data.dataset.keyspace.hidden().All()) {
      jobs.push_back({.name = name,
                      .operation = SlotJob::Operation::kImport,
                      .slots = slots,
                      .state = SlotJob::State::kOnPrimary});
    }
  }
  for (const auto& job : log_.All()) jobs.push_back(*job);
  return jobs;
}

void SlotMigrations::EndTurn() {
  if (is_closed_) return;
  imports_.EndTurn();
  if (request_ && request_->job().state == SlotJob::State::kQueued) request_->Tick();
  if (exports_.empty()) return;
  SlotExport& first = exports_.front();
  if (first.job().state == SlotJob::State::kQueued) first.Start();
  first.Continue();
  exports_.remove_if([](const SlotExport& one) { return one.job().IsOver(); });
}

void SlotMigrations::Tick() {
  const int64_t now_ms = services_.env.real_clock.NowMs();
  if (now_ms - ticked_at_ms_ < kTickMs) return;
  ticked_at_ms_ = now_ms;
  imports_.CheckTimeouts();
  if (request_ && !is_closed_) request_->Tick();
  if (!exports_.empty()) exports_.front().CheckTimeouts();
  log_.Trim(static_cast<size_t>(services_.env.settings.cluster_slot_migration_log_max_len), FindRequest());
}

}  // namespace respite
