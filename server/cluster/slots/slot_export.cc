#include "server/cluster/slots/slot_export.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "datatypes/keyspace.h"
#include "persistence/function_payload.h"
#include "persistence/value_commands.h"
#include "protocol/request_text.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/pause.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/runtime/host.h"
#include "server/runtime/server_phase.h"
#include "server/storage/child_processes.h"
#include "server/storage/children.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

using State = SlotJob::State;

constexpr char kSnapshotEof[] = "SNAPSHOT-EOF";
constexpr size_t kLongestLine = 4096;
constexpr int64_t kLongestPauseMs = 5000;
constexpr int64_t kMaxUnappliedBytes = 1 << 20;  // as cluster-slot-migration-handoff-max-lag-bytes of Redis
// The requests of a target are short, so anything longer is an error.
constexpr RequestLimits kTargetLimits = {.max_bulk_bytes = 1024, .authenticated = false};

// Returns the request CLUSTER SYNCSLOTS with this word.
std::string StepRequest(Bytes step) {
  std::string text;
  AppendRequest(text, {"CLUSTER", "SYNCSLOTS", step});
  return text;
}

// Returns an error line of the target for the log: printable, and at most 200 bytes of it.
std::string Shown(Bytes line) { return PrintablePart(line.substr(line.starts_with('-') ? 1 : 0), 200); }

class PipeOutput final : public RequestOutput {
 public:
  explicit PipeOutput(int descriptor) : file_(descriptor) {}
  bool HasFailed() const { return has_failed_; }

 protected:
  void Take(Bytes piece) override {
    if (!has_failed_) has_failed_ = file_.Write(piece).error != kNoError;
  }

 private:
  PipeFile file_;
  bool has_failed_ = false;
};

}  // namespace

SlotExport::SlotExport(const Services& services, std::shared_ptr<SlotJob> job)
    : services_(services), job_(std::move(job)) {}

SlotExport::~SlotExport() {
  if (!IsOver()) EndExport(State::kFailed, "the node ends");
}

Cluster& SlotExport::cluster() const { return *services_.cluster.cluster(); }

void SlotExport::SetState(State state) {
  job_->SetState(state, services_.env.clock.WallMs());
  entered_ms_ = last_progress_ms_ = services_.env.real_clock.NowMs();
}

void SlotExport::EndExport(State state, const std::string& message) {
  if (IsOver()) return;
  const Services& services = services_;
  job_->message = message;
  job_->unsent_bytes = 0;
  SetState(state);
  if (changes_) services.data.dataset.journals.Detach(*changes_);
  if (pipe_ && services.storage.child_processes.Does(ChildWork::kSlots)) services.storage.child_processes.Kill();
  pipe_.reset();
  if (std::exchange(pauses_writes_, false)) services.clients.pause.ResumeWrites(Pause::kSlotMigration);
  main_session_ = nullptr;
  snapshot_link_.reset();
  link_.reset();
  if (state == State::kSuccess) {
    services.env.log.Notice("Slot migration " + job_->name + ": the target owns the slots now.");
  } else {
    services.env.log.Warning("Slot migration " + job_->name + " " + std::string(StateName(state)) + ": " + message);
  }
}

bool SlotExport::Cancel() {
  // Refuses to cancel in kGranted: the target may already own the slots, so writes must not continue here.
  if (IsOver() || job_->state == State::kGranted) return false;
  EndExport(State::kCancelled, "by an operator");
  return true;
}

size_t SlotExport::BufferedBytes() const {
  return (changes_ ? changes_->BufferedBytes() : 0) + (link_ == nullptr ? 0 : link_->UnsentBytes()) +
         (snapshot_link_ == nullptr ? 0 : snapshot_link_->UnsentBytes());
}

// --- The conversation.

void SlotExport::Start() {
  const ClusterNode* const target = cluster().view().Find(job_->target);
  if (!EndUnlessOwner()) return;
  if (target == nullptr || !target->IsPrimary() || !target->HasAddress()) return Fail("the target is no primary");
  SetState(State::kConnecting);
  job_->started_ms = services_.env.clock.WallMs();
  const Settings& settings = services_.env.settings;
  const int port = settings.tls_replication ? target->address.tls_port : target->address.tcp_port;
  link_ = services_.env.network->Connect(
      {.host = target->address.ip, .port = port, .uses_tls = settings.tls_replication}, *this);
}

void SlotExport::OnConnected() {
  const Settings& settings = services_.env.settings;
  if (settings.masterauth.empty()) return SendEstablish();
  SetState(State::kAuthenticating);
  std::string text;
  if (settings.masteruser.empty()) {
    AppendRequest(text, {"AUTH", settings.masterauth});
  } else {
    AppendRequest(text, {"AUTH", settings.masteruser, settings.masterauth});
  }
  link_->Send(text);
}

// Called after the reply to AUTH, if AUTH was sent: Valkey sends ESTABLISH only then.
void SlotExport::SendEstablish() {
  SetState(State::kEstablishing);
  std::vector<std::string> words = {"CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", job_->source.String(),
                                    "NAME",    job_->name,  "SLOTSRANGE"};
  for (const SlotRange& range : RangesOf(job_->slots)) {
    words.push_back(std::to_string(range.first));
    words.push_back(std::to_string(range.last));
  }
  std::string text;
  AppendRequest(text, words);
  link_->Send(text);
}

void SlotExport::SendStep(Bytes step) { link_->Send(StepRequest(step)); }

void SlotExport::SendAck() {
  acked_ms_ = services_.env.real_clock.NowMs();
  SendStep("ACK");
}

bool SlotExport::IsAwaitingReply() const {
  return job_->state == State::kAuthenticating || job_->state == State::kEstablishing;
}

void SlotExport::OnReceived(Bytes bytes) {
  last_progress_ms_ = services_.env.real_clock.NowMs();
  job_->acked_s = services_.env.clock.WallMs() / 1000;
  // The target may own the slots now, so nothing that it sends may end the pause of writes.
  if (job_->state == State::kGranted) return;
  while (!bytes.empty() && !IsOver() && IsAwaitingReply()) ReadReply(bytes);
  if (!bytes.empty() && !IsOver()) ReadRequests(bytes);
}

void SlotExport::ReadReply(Bytes& bytes) {
  const size_t end = bytes.find('\n');
  line_.append(bytes.substr(0, end));
  if (line_.size() > kLongestLine) return Fail("the target answers with a line that is too long");
  bytes.remove_prefix(end == Bytes::npos ? bytes.size() : end + 1);
  if (end == Bytes::npos) return;
  if (line_.ends_with('\r')) line_.pop_back();
  const std::string line = std::exchange(line_, {});
  if (!line.starts_with('+')) return Fail("the target refused: " + Shown(line));
  if (job_->state == State::kAuthenticating) return SendEstablish();
  SetState(State::kWaitingToSnapshot);
  SendAck();
}

void SlotExport::ReadRequests(Bytes bytes) {
  std::array<char, 1024> scratch;  // NOLINT: filled before it is read
  while (!bytes.empty()) {
    const std::span<char> place = parser_.ReadTarget(scratch);
    const size_t size = std::min(place.size(), bytes.size());
    std::copy_n(bytes.begin(), size, place.begin());
    bytes.remove_prefix(size);
    parser_.Received(size);
    RequestParser::Status status = RequestParser::Status::kRequest;
    while ((status = parser_.ParseInto(batch_, kTargetLimits)) == RequestParser::Status::kRequest) {
      HandleRequest(batch_.Words(batch_.requests.back()));
      if (IsOver()) return;
    }
    if (status == RequestParser::Status::kError) return Fail("the target sends what is no request");
    batch_.Clear();
    parser_.SaveRest();
  }
}

void SlotExport::OnEnded(const std::string& reason) {
  link_.reset();
  if (job_->state == State::kGranted) return;  // the bus will tell who owns the slots
  Fail("the connection to the target ended" + (reason.empty() ? "" : ": " + reason));
}

void SlotExport::HandleRequest(std::span<const Bytes> words) {
  const bool is_step =
      words.size() >= 3 && EqualsIgnoreCase(words[0], "CLUSTER") && EqualsIgnoreCase(words[1], "SYNCSLOTS");
  const Bytes step = is_step ? words[2] : Bytes();
  if (EqualsIgnoreCase(step, "ACK") || EqualsIgnoreCase(step, "CAPA")) return;
  if (EqualsIgnoreCase(step, "REQUEST-PAUSE")) return HandlePauseRequest();
  if (EqualsIgnoreCase(step, "REQUEST-FAILOVER")) return HandleFailoverRequest();
  Fail("the target sends an unknown request");
}

bool SlotExport::HasSentSnapshot() const {
  // The target may have read SNAPSHOT-EOF before this node reads the end of the pipe.
  return job_->state == State::kStreaming || (job_->state == State::kSnapshotting && pipe_->IsWhole());
}

void SlotExport::HandlePauseRequest() {
  if (!HasSentSnapshot()) return Fail("the target requests a pause too early");
  pipe_.reset();
  EndSnapshotLink();
  SetState(State::kWaitingToPause);
}

void SlotExport::EndSnapshotLink() {
  if (snapshot_link_ != nullptr) snapshot_link_->CloseAfterOutput();
  snapshot_link_.reset();
}

void SlotExport::HandleFailoverRequest() {
  if (job_->state != State::kPaused) return Fail("the target requests the slots too early");
  Grant("FAILOVER-GRANTED");
}

void SlotExport::Grant(Bytes step) {
  seen_version_ = UINT64_MAX;
  if (!EndUnlessOwner()) return;
  if (!changes_->IsEmpty()) return Fail("keys were changed while writes were held back");
  // This node may be in a minority, and its slots may have another owner already.
  if (!cluster().view().is_ok) return Fail("the cluster is down");
  SetState(State::kGranted);
  SendStep(step);
}

// --- Requests of a target that is a node of Redis.

void SlotExport::Sync(Session& main) {
  main.no_evict = true;
  auto link = std::make_unique<SessionLink>(services_.clients.registry, main);
  main_session_ = link.get();
  is_for_redis_ = true;
  link_ = std::move(link);
  job_->started_ms = services_.env.clock.WallMs();
  SetState(State::kEstablishing);
}

void SlotExport::SendSnapshotTo(Session& session) {
  session.no_evict = true;
  snapshot_link_ = std::make_unique<SessionLink>(services_.clients.registry, session);
  SetState(State::kWaitingToSnapshot);
}

bool SlotExport::IsMain(const Session& session) const {
  return main_session_ != nullptr && main_session_->IsOf(session);
}

// Redis ignores ACKs that come too early, or that have an unknown state.
void SlotExport::HandleAck(Bytes state, int64_t offset) {
  if (job_->state > State::kEstablishing) last_progress_ms_ = services_.env.real_clock.NowMs();
  job_->acked_s = services_.env.clock.WallMs() / 1000;
  applied_bytes_ = std::max(applied_bytes_, std::min(offset, sent_bytes_));
  const bool has_snapshot = state == "streaming-buffer" || state == "wait-stream-eof";
  if (has_snapshot && HasSentSnapshot()) HandlePauseRequest();
}

void SlotExport::Forget(const Session& session) {
  if (IsMain(session)) {
    main_session_->Forget();
    main_session_ = nullptr;
    return OnEnded("");
  }
  if (snapshot_link_ == nullptr || !snapshot_link_->IsOf(session)) return;
  snapshot_link_->Forget();
  snapshot_link_.reset();
  if (job_->state == State::kWaitingToSnapshot || (job_->state == State::kSnapshotting && !pipe_->IsWhole()))
    Fail("the connection for the snapshot ended");
}

// --- Each turn.

void SlotExport::Continue() {
  if (IsOver() || job_->state == State::kQueued || services_.env.phase.IsInLongTask()) return;
  if (!EndUnlessOwner()) return;
  if (changes_ && changes_->HasChangedEverything()) return Fail("all keys were changed at once");
  switch (job_->state) {
    case State::kWaitingToSnapshot:
      Fork();
      break;
    case State::kSnapshotting:
      if (pipe_->IsPaused()) ContinueReading();
      break;
    case State::kStreaming:
      SendChanges();
      break;
    case State::kWaitingToPause:
      SendChanges();
      PauseWritesIfCaughtUp();
      break;
    case State::kPaused:
    case State::kGranted:
      if (!changes_->IsEmpty()) Fail("keys were changed while writes were held back");
      break;
    default:
      break;
  }
  if (!IsOver()) job_->unsent_bytes = BufferedBytes();
}

SlotExport::Owner SlotExport::FindOwner() const {
  const ClusterView& view = cluster().view();
  const ClusterNode* const target = view.Find(job_->target);
  bool is_mine = view.me().IsPrimary();
  bool is_targets = target != nullptr;
  job_->slots.ForEach([&](int slot) {
    is_mine = is_mine && view.Owner(slot) == &view.me();
    is_targets = is_targets && view.Owner(slot) == target;
  });
  return is_mine ? Owner::kThisNode : is_targets ? Owner::kTarget : Owner::kOthers;
}

bool SlotExport::EndUnlessOwner() {
  const uint64_t version = cluster().view().version();
  if (std::exchange(seen_version_, version) == version) return true;
  const Owner owner = FindOwner();
  const bool knows_target = cluster().view().Find(job_->target) != nullptr;
  if (owner == Owner::kThisNode && (knows_target || job_->state == State::kGranted)) return true;
  if (owner == Owner::kTarget && job_->state == State::kGranted) {
    EndExport(State::kSuccess, "");
  } else {
    Fail(owner == Owner::kThisNode ? "the target was forgotten" : "this node does not own the slots any more");
  }
  return false;
}

void SlotExport::SendChanges() {
  if (changes_->IsEmpty()) return;
  const std::string changes = changes_->Take();
  sent_bytes_ += static_cast<int64_t>(changes.size());
  link_->Send(changes);
}

void SlotExport::PauseWritesIfCaughtUp() {
  const int64_t limit = services_.env.settings.slot_migration_max_failover_repl_bytes;
  if (is_for_redis_ && sent_bytes_ - applied_bytes_ > kMaxUnappliedBytes) return;
  if (limit >= 0 && link_->UnsentBytes() > static_cast<size_t>(limit)) return;
  if (services_.clients.pause.IsOn()) return;  // another pause is active; tries again in the next turn
  services_.clients.pause.PauseWrites(Pause::kSlotMigration);
  pauses_writes_ = true;
  SetState(State::kPaused);
  if (is_for_redis_) return Grant("STREAM-EOF");
  SendStep("PAUSED");
}

void SlotExport::CheckTimeouts() {
  if (IsOver() || job_->state == State::kQueued) return;
  const Settings& settings = services_.env.settings;
  const int64_t now_ms = services_.env.real_clock.NowMs();
  const size_t unsent = link_ == nullptr ? 0 : link_->UnsentBytes();
  if (unsent < std::exchange(unsent_bytes_, unsent)) last_progress_ms_ = now_ms;
  if (job_->state == State::kGranted) {
    const int64_t limit_ms = kLongestPauseMs + (link_ == nullptr ? 0 : settings.cluster_node_timeout);
    if (now_ms - entered_ms_ > limit_ms) Fail("the target did not say whether it has taken the slots");
    return;
  }
  const uint64_t most = settings.client_output_buffer_limit[kOutputReplica].hard_bytes;
  if (most != 0 && BufferedBytes() > most) return Fail("the target is too slow: client-output-buffer-limit replica");
  if (job_->state == State::kPaused && now_ms - entered_ms_ > kLongestPauseMs) {
    return Fail("the target did not follow while writes were held back");
  }
  if (now_ms - last_progress_ms_ > int64_t{settings.repl_timeout} * 1000) return Fail("the target does not answer");
  const bool may_ack =
      !is_for_redis_ && job_->state >= State::kWaitingToSnapshot && job_->state != State::kSnapshotting;
  if (may_ack && now_ms - acked_ms_ >= kSlotAckEveryMs) SendAck();
}

// --- The snapshot.

void SlotExport::Fork() {
  ChildProcesses& child_processes = services_.storage.child_processes;
  if (child_processes.Busy()) return;
  auto ends = SnapshotPipe::Open();
  if (!ends) return Fail("no pipe for the snapshot: " + IoErrorText(ends.error()));
  const auto pid = child_processes.Start(
      ChildWork::kSlots, [this](ChildReporter& reporter) { return WriteSnapshot(reporter); },
      [job = job_](const ChildEnd& end) { job->cow_bytes = end.last_progress.cow_peak_bytes; },
      ends.value().write_end.Get());
  if (!pid) return Fail("no child for the snapshot: " + IoErrorText(pid.error()));
  SetState(State::kSnapshotting);
  changes_.emplace(job_->slots, services_.env.commands);
  services_.data.dataset.journals.Attach(*changes_);
  pipe_.emplace(
      std::move(ends.value().read_end), StepRequest(kSnapshotEof), *services_.env.network,
      [this](Bytes bytes) { ForwardSnapshotBytes(bytes); }, [this](bool is_whole) { HandlePipeEnd(is_whole); });
}

// Writes the commands of the keys and then SNAPSHOT-EOF into the pipe. Runs in the child process.
bool SlotExport::WriteSnapshot(ChildReporter& reporter) const {
  const Keyspace& keyspace = services_.data.dataset.keyspace;
  PipeOutput out(reporter.OutputDescriptor());
  if (is_for_redis_) WriteFunctions(out);
  uint64_t keys = 0;
  for (int db = 0; db < keyspace.Count() && !out.HasFailed(); ++db) {
    if (keyspace[db].Size() == 0) continue;
    out.Begin(2);
    out.Word("SELECT");
    out.Integer(db);
    job_->slots.ForEach([&](int slot) {
      keyspace[db].by_slot()->ForEachWhile(slot, [&](const Entry* entry) {
        WriteValueCommands(out, *entry);
        reporter.Tell(++keys);
        return !out.HasFailed();
      });
    });
  }
  out.Verbatim(StepRequest(kSnapshotEof));
  out.Flush();
  return !out.HasFailed();
}

// As Redis does, sends the functions, because the target may be a node without them.
void SlotExport::WriteFunctions(RequestOutput& out) const {
  std::vector<Bytes> codes;
  for (const auto& [name, library] : services_.execution.function_libraries.All()) codes.emplace_back(library->code);
  if (codes.empty()) return;
  out.Begin(4);
  out.Word("FUNCTION");
  out.Word("RESTORE");
  out.Word(FunctionPayload(codes, services_.env.settings.rdbcompression ? RdbCompression::kOn : RdbCompression::kOff));
  out.Word("REPLACE");
}

Link& SlotExport::SnapshotLink() { return snapshot_link_ != nullptr ? *snapshot_link_ : *link_; }

void SlotExport::ForwardSnapshotBytes(Bytes bytes) {
  SnapshotLink().Send(bytes);
  if (SnapshotLink().UnsentBytes() > SnapshotPipe::kWindowBytes) pipe_->Pause();
}

void SlotExport::ContinueReading() {
  if (SnapshotLink().UnsentBytes() <= SnapshotPipe::kWindowBytes) return pipe_->Resume();
  // A session's output is sent at the end of the turn. If all of it may leave then, no event begins the next turn, so
  // an empty task does (FullSync::ContinueReading explains it).
  const bool may_send = snapshot_link_ != nullptr && !snapshot_link_->IsWaitingToWrite();
  if (may_send && services_.env.host) services_.env.host->Post([] {});
}

void SlotExport::HandlePipeEnd(bool is_whole) {
  pipe_.reset();
  if (!is_whole) return Fail("the snapshot could not be written");
  EndSnapshotLink();
  SetState(State::kStreaming);
}

}  // namespace respite
