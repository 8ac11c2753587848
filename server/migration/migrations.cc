#include "server/migration/migrations.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/number_text.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/clients/role.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"
#include "server/runtime/server_phase.h"

namespace respite {

// A link to a server. When all answers of a transfer have arrived, the link is kept for the next transfer to that
// server.
class Migrations::Channel final : public Link::User {
 public:
  Channel(Migrations& owner, std::string name) : owner_(owner), name_(std::move(name)) {}

  void Connect(Network& network, const Link::Target& target) { link_ = network.Connect(target, *this); }
  Link& link() { return *link_; }
  const std::string& name() const { return name_; }

  void OnConnected() override { owner_.Transfer(*this, *migration); }
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& /*reason*/) override { owner_.HandleLostLink(*this); }

  Migration* migration = nullptr;  // null: idle
  int64_t selected_db = 0;
  int64_t idle_since_ms = 0;

 private:
  static constexpr size_t kLongestLine = 64 * 1024;  // longer lines do not come from a Redis server

  bool TakeLine();

  Migrations& owner_;
  const std::string name_;
  std::unique_ptr<Link> link_;
  std::string received_;
};

// One call of MIGRATE.
struct Migrations::Migration {
  enum class Stage : uint8_t { kConnecting, kTransferring, kDone };

  uint64_t caller;  // id of a session; 0: it has called MIGRATE again
  const Command* command;
  int db;
  bool began_as_replica;
  MigrateArguments arguments;
  std::vector<std::optional<MigratingKeys::Place>> places = {};  // of the keys; empty for a repeated key
  Stage stage = Stage::kConnecting;
  Channel* channel = nullptr;
  bool is_second_attempt = false;
  int64_t progress_ms = 0;  // when something was last sent or received
  size_t unsent = 0;        // unsent bytes at the last check
  int64_t due_ms = Timers::kNever;
  FailedMigrateStep failed_step = FailedMigrateStep::kNone;
};

bool Migrations::Channel::TakeLine() {
  const size_t end = received_.find('\n');
  if (end == std::string::npos) return false;
  const size_t size = end > 0 && received_[end - 1] == '\r' ? end - 1 : end;
  migration->arguments.protocol.TakeAnswer(Bytes(received_).substr(0, size));
  received_.erase(0, end + 1);
  return true;
}

void Migrations::Channel::OnReceived(Bytes bytes) {
  if (migration == nullptr) return owner_.HandleLostLink(*this);  // an answer without a request
  received_.append(bytes);
  while (!migration->arguments.protocol.IsOver() && TakeLine()) owner_.RestartTimer(*migration);
  if (migration->arguments.protocol.IsOver() ? !received_.empty() : received_.size() > kLongestLine) {
    return owner_.HandleLostLink(*this);
  }
  if (migration->arguments.protocol.IsOver()) owner_.HandleLastAnswer(*this);
}

void DeleteMovedKeys(const Services& services, DbView& db, Propagation& effect, const std::vector<std::string>& keys) {
  const bool lazily = services.env.settings.lazyfree_lazy_server_del;
  for (const std::string& key : keys) {
    KeyEdit edit = db.Open(key);
    if (!edit) continue;
    services.data.lazy_free.Free(edit.Take(), lazily ? FreeMode::kLater : FreeMode::kNow);
    edit.ReportChange("del");
    effect.Replace("DEL", Bytes(key));
  }
}

Migrations::Migrations(const Services& services) : services_(services) { services.env.timers.Add(*this); }
Migrations::~Migrations() = default;

int64_t Migrations::NowMs() const { return services_.env.clock.MonotonicMs(); }

// --- Course of a transfer.

void Migrations::Start(const Session& session, const Command& command, MigrateArguments arguments) {
  for (const auto& other : migrations_)
    if (other->caller == session.id) other->caller = 0;
  Migration& migration = *migrations_.emplace_back(
      std::make_unique<Migration>(Migration{.caller = session.id,
                                            .command = &command,
                                            .db = session.db,
                                            .began_as_replica = services_.clients.role.is_replica,
                                            .arguments = std::move(arguments)}));
  for (const std::string& key : migration.arguments.protocol.Keys()) {
    const bool is_named_before = services_.clients.migrating_keys.Contains(migration.db, key);
    migration.places.push_back(
        is_named_before ? std::nullopt : std::optional(services_.clients.migrating_keys.Add(migration.db, key)));
  }
  Attempt(migration);
}

void Migrations::Attempt(Migration& migration) {
  const MigrateArguments& arguments = migration.arguments;
  Channel* const kept = FindIdleChannel(arguments.host + ':' + arguments.port + (arguments.uses_tls ? " tls" : ""));
  kept != nullptr ? Transfer(*kept, migration) : Connect(migration);
}

Migrations::Channel* Migrations::FindIdleChannel(const std::string& name) {
  const auto found = std::ranges::find_if(channels_, [&](const std::unique_ptr<Channel>& channel) {
    return channel->migration == nullptr && channel->name() == name;
  });
  return found == channels_.end() ? nullptr : found->get();
}

void Migrations::Connect(Migration& migration) {
  const MigrateArguments& arguments = migration.arguments;
  const auto port = ParseInteger(arguments.port);
  if (!port || *port < 0 || *port > 65535) return Fail(migration, FailedMigrateStep::kConnecting);
  if (channels_.size() >= kMaxLinks) CloseLongestIdle();
  Channel& channel = *channels_.emplace_back(
      std::make_unique<Channel>(*this, arguments.host + ':' + arguments.port + (arguments.uses_tls ? " tls" : "")));
  channel.migration = &migration;
  migration.channel = &channel;
  migration.stage = Migration::Stage::kConnecting;
  RestartTimer(migration);
  channel.Connect(*services_.env.network.operator->(),
                  {.host = arguments.host, .port = static_cast<int>(*port), .uses_tls = arguments.uses_tls});
}

void Migrations::CloseLongestIdle() {
  const auto longest = std::ranges::min_element(channels_, {}, [](const std::unique_ptr<Channel>& channel) {
    return channel->migration != nullptr ? INT64_MAX : channel->idle_since_ms;
  });
  if ((*longest)->migration == nullptr) channels_.erase(longest);
}

void Migrations::Transfer(Channel& channel, Migration& migration) {
  channel.migration = &migration;
  migration.channel = &channel;
  migration.stage = Migration::Stage::kTransferring;
  channel.link().Send(migration.arguments.protocol.Begin(channel.selected_db));
  channel.link().Send(migration.arguments.protocol.Restores());
  RestartTimer(migration);
}

void Migrations::RestartTimer(Migration& migration) const {
  migration.progress_ms = NowMs();
  migration.unsent = migration.stage == Migration::Stage::kTransferring ? migration.channel->link().UnsentBytes() : 0;
  ScheduleCheck(migration);
}

// Sets when to check the migration again: at its timeout, but every 20 ms while bytes are unsent, because a link does
// not report when it has sent something.
void Migrations::ScheduleCheck(Migration& migration) const {
  constexpr int64_t kLookMs = 20;
  migration.due_ms = migration.progress_ms + std::min(migration.arguments.timeout_ms, INT64_MAX / 2);
  if (migration.unsent != 0) migration.due_ms = std::min(migration.due_ms, NowMs() + kLookMs);
}

void Migrations::HandleLastAnswer(Channel& channel) {
  Migration& migration = *channel.migration;
  channel.selected_db = migration.arguments.protocol.SelectedDb();
  channel.idle_since_ms = NowMs();
  channel.migration = nullptr;
  MarkDone(migration);
}

// Handles a link that has ended or has received invalid data. If the link was connected and no key was answered yet,
// makes a second and last attempt over a new link, because the other server may have closed a link that was kept from
// an earlier MIGRATE. (Does so even if the lost link was new.) Otherwise the migration fails.
void Migrations::HandleLostLink(Channel& channel) {
  Migration* const migration = channel.migration;
  if (migration == nullptr) return Drop(channel);
  const Link::Stage reached = channel.link().stage();
  const bool sent_all = channel.link().UnsentBytes() == 0;
  Drop(channel);
  migration->channel = nullptr;
  // Reports a server that does not accept the connection as a failed write. Redis does, because it notices the refusal
  // only when it writes the first request.
  if (reached == Link::Stage::kConnecting) return Fail(*migration, FailedMigrateStep::kWriting);
  if (reached != Link::Stage::kOpen) return Fail(*migration, FailedMigrateStep::kConnecting);
  const bool tries_again = !migration->is_second_attempt && migration->arguments.protocol.AnsweredKeyCount() == 0;
  if (!tries_again) return Fail(*migration, sent_all ? FailedMigrateStep::kReading : FailedMigrateStep::kWriting);
  migration->is_second_attempt = true;
  Connect(*migration);
}

void Migrations::Fail(Migration& migration, FailedMigrateStep failed_step) {
  migration.failed_step = failed_step;
  MarkDone(migration);
}

void Migrations::MarkDone(Migration& migration) {
  migration.channel = nullptr;
  migration.stage = Migration::Stage::kDone;
  migration.due_ms = Timers::kNever;
  ++done_count_;
}

void Migrations::Drop(const Channel& channel) {
  channels_.remove_if([&](const std::unique_ptr<Channel>& one) { return one.get() == &channel; });
}

// --- Time.

int64_t Migrations::NextDueMs() const {
  int64_t next_ms = Timers::kNever;
  for (const auto& migration : migrations_) next_ms = std::min(next_ms, migration->due_ms);
  return next_ms;
}

void Migrations::RunDue(int64_t now_ms) {
  for (const auto& migration : migrations_) {
    if (migration->due_ms > now_ms) continue;
    Link& link = migration->channel->link();
    if (migration->stage == Migration::Stage::kTransferring && link.UnsentBytes() < migration->unsent) {
      RestartTimer(*migration);
      continue;
    }
    if (now_ms - migration->progress_ms < migration->arguments.timeout_ms) {
      ScheduleCheck(*migration);
      continue;
    }
    const Link::Stage reached = link.stage();
    const bool sent_all = reached == Link::Stage::kOpen && link.UnsentBytes() == 0;
    Drop(*migration->channel);
    Fail(*migration, sent_all                             ? FailedMigrateStep::kReading
                     : reached == Link::Stage::kHandshake ? FailedMigrateStep::kConnecting
                                                          : FailedMigrateStep::kWriting);
  }
}

void Migrations::CloseIdleLinks(int64_t now_ms) {
  channels_.remove_if([&](const std::unique_ptr<Channel>& channel) {
    return channel->migration == nullptr && now_ms - channel->idle_since_ms > kIdleMs;
  });
}

void Migrations::CloseUnusedLinks() {
  channels_.remove_if([](const std::unique_ptr<Channel>& channel) { return channel->migration == nullptr; });
}

// --- The end.

void Migrations::EndTurn() {
  if (done_count_ == 0 || services_.clients.pause.IsOn() || services_.env.phase.IsInLongTask()) return;
  services_.execution.executor.ReadClocks();
  for (auto next = migrations_.begin(); next != migrations_.end();) {
    const auto at = next++;
    if ((*at)->stage != Migration::Stage::kDone) continue;
    const std::unique_ptr<Migration> ended = std::move(*at);
    migrations_.erase(at);
    --done_count_;
    Finish(*ended);
    next = migrations_.begin();  // the request that ran may have started another one
  }
  ResumePausedRequests();
}

void Migrations::Finish(Migration& migration) {
  MigrateOutcome outcome = CollectOutcome(migration);
  Session* const caller = FindCaller(migration);
  if (caller == nullptr) return DeleteKeysOfGoneCaller(migration.db, outcome.moved);
  current_outcome_ = CurrentOutcome{caller->id, std::move(outcome)};
  services_.clients.blocked.Continue(*caller);
  current_outcome_.reset();
}

MigrateOutcome Migrations::CollectOutcome(Migration& migration) {
  const MigrateProtocol& protocol = migration.arguments.protocol;
  MigrateOutcome outcome{.failed_step = migration.failed_step, .error = protocol.Error()};
  // Deletes no keys here if this server has changed its role during the transfer.
  const bool moves = !migration.arguments.copies && migration.began_as_replica == services_.clients.role.is_replica;
  for (size_t i = 0; i < migration.places.size(); ++i) {
    if (!migration.places[i]) continue;
    const bool was_changed = MigratingKeys::WasChanged(*migration.places[i]);
    services_.clients.migrating_keys.Remove(*migration.places[i]);
    if (!moves || !protocol.HasAccepted(i)) continue;
    if (!was_changed) {
      outcome.moved.push_back(protocol.Keys()[i]);
    } else if (services_.data.dataset.keyspace[migration.db].Find(protocol.Keys()[i]) != nullptr) {
      outcome.kept_changed_keys = true;
    }
  }
  return outcome;
}

Session* Migrations::FindCaller(const Migration& migration) const {
  Session* const session = services_.clients.registry.Find(migration.caller);
  const bool waits =
      session != nullptr && session->blocked_client != nullptr && session->blocked_client->command == migration.command;
  return waits ? session : nullptr;
}

std::optional<MigrateOutcome> Migrations::TakeOutcome(const Session& session) {
  if (!current_outcome_ || current_outcome_->session != session.id) return std::nullopt;
  return std::exchange(current_outcome_, std::nullopt)->outcome;
}

void Migrations::DeleteKeysOfGoneCaller(int db, const std::vector<std::string>& keys) {
  Unit unit(services_.data.dataset, services_.env.clock.WallMs(),
            services_.clients.role.is_replica ? ExpiryRule::kHide : ExpiryRule::kPurge);
  DbView view(unit, db, false);
  Propagation effect(unit.IsRecording());
  DeleteMovedKeys(services_, view, effect, keys);
  if (unit.ChangeCount() != 0) unit.Record(db, effect, {});
  unit.Close();
}

void Migrations::ResumePausedRequests() {
  for (const uint64_t id : services_.clients.migrating_keys.TakePaused()) {
    Session* const session = services_.clients.registry.Find(id);
    if (session != nullptr && session->paused_request != nullptr) services_.clients.registry.QueueUnblocked(*session);
  }
}

}  // namespace respite
