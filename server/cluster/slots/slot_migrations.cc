#include "server/cluster/slots/slot_migrations.h"

#include "base/clock.h"
#include "base/real_clock.h"
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

}  // namespace

SlotMigrations::SlotMigrations(const Services& services, uint64_t random_seed)
    : services_(services), random_(random_seed), imports_({services, log_}) {}

void SlotMigrations::Close() {
  exports_.clear();
  is_closed_ = true;
}

void SlotMigrations::Export(const SlotSet& slots, const NodeId& target) {
  const int64_t now_s = services_.env.clock.WallMs() / 1000;
  exports_.emplace_back(services_, log_.Add({.name = NodeId::Draw(random_).String(),
                                             .operation = SlotJob::Operation::kExport,
                                             .slots = slots,
                                             .source = services_.cluster.cluster()->view().me().id,
                                             .target = target,
                                             .state = SlotJob::State::kQueued,
                                             .created_s = now_s,
                                             .updated_s = now_s,
                                             .acked_s = now_s}));
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

bool SlotMigrations::CancelExports() {
  bool any = false;
  for (SlotExport& one : exports_) {
    any = any || !one.job().IsOver();
    one.Cancel();
  }
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
  if (!exports_.empty()) exports_.front().CheckTimeouts();
  log_.Trim(static_cast<size_t>(services_.env.settings.cluster_slot_migration_log_max_len));
}

}  // namespace respite
