#include "server/replication/primary_link.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "protocol/request_text.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/services.h"
#include "server/replication/failover.h"
#include "server/replication/replicas.h"
#include "server/replication/replication_stream.h"
#include "server/runtime/host.h"
#include "server/runtime/server_phase.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

constexpr size_t kScratchBytes = 64 * 1024;
constexpr size_t kLongestLine = 1024;
constexpr int64_t kSayEveryMs = 1000;
constexpr int64_t kShortLinkMs = 1000;
constexpr int64_t kFirstRetryDelayMs = 2000;  // after a snapshot that could not be loaded
constexpr int64_t kLongestRetryDelayMs = 60'000;
constexpr size_t kLongestError = 200;  // bytes of an error text in INFO

}  // namespace

PrimaryLink::PrimaryLink(const Parts& parts)
    : parts_(parts), pump_(parts.services), user_(parts.services.clients.users.MakeUnlimitedUser()) {
  parts.services.storage.loading.SetAdvanceHandler([this] { SendKeepAliveWhileLoading(); });
}

PrimaryLink::~PrimaryLink() { link_.reset(); }

// --- The connection

void PrimaryLink::Follow(Handshake::MayContinue continues, Data data) {
  // If the link was already down, leaves down_since_ms_ unchanged: Sentinels judge from it how old the data here is.
  if (state_ == State::kNone || state_ == State::kLinked) down_since_ms_ = NowMs();
  Leave();
  if (data == Data::kOther) last_linked_at_ms_.reset();
  may_continue_ = continues;
  last_error_.clear();
  takeover_requests_ = 0;
  Retry();
}

bool PrimaryLink::IsWaitingToRetry() const {
  return state_ == State::kFailed || (state_ == State::kConnect && NowMs() < retry_at_ms_);
}

void PrimaryLink::Retry() {
  failed_snapshot_count_ = 0;
  retry_at_ms_ = 0;
  failed_command_.clear();
  state_ = State::kConnect;
  Connect();
}

void PrimaryLink::Leave() {
  CloseSession();
  DropLink();
  state_ = State::kNone;
}

void PrimaryLink::DropLink() {
  link_.reset();
  handshake_.reset();
  if (resync_) {
    resync_->Abandon();
    if (resync_->HasDroppedOldData()) {
      may_continue_ = Handshake::MayContinue::kNo;
      ForgetOffsetOnDisk();
    }
    resync_.reset();
  }
  line_.clear();
  unprocessed_input_.clear();
}

void PrimaryLink::Connect() {
  const Services& services = parts_.services;
  const Settings& settings = services.env.settings;
  if (!services.env.network || !settings.replicaof) return;
  const PrimaryAddress& primary = *settings.replicaof;
  if (primary.host.empty()) return;  // a cluster's primary whose address is not known yet
  services.env.log.Notice("Connecting to MASTER " + primary.Text());
  state_ = State::kConnecting;
  began_ms_ = NowMs();
  ++current_sync_attempts_;
  ++total_sync_attempts_;
  line_.clear();
  link_ = services.env.network->Connect({.host = primary.host,
                                         .port = primary.port,
                                         .source = settings.bind_source_addr,
                                         .uses_tls = settings.tls_replication},
                                        *this);
  services.env.log.Notice("MASTER <-> REPLICA sync started");
}

void PrimaryLink::Reconnect(const std::string& reason) {
  const Services& services = parts_.services;
  services.env.log.Notice(reason);
  last_error_ = PrintablePart(reason, kLongestError);
  const bool was_linked = state_ == State::kLinked;
  CloseSession();
  DropLink();
  state_ = State::kConnect;
  if (!was_linked) return;  // the timer retries
  down_since_ms_ = NowMs();
  current_sync_attempts_ = 0;
  if (down_since_ms_ - linked_since_ms_ < kShortLinkMs) return;  // the timer retries: the next link may be as short
  services.env.log.Notice("Reconnecting to MASTER " + services.env.settings.replicaof->Text());
  Connect();
}

void PrimaryLink::OnConnected() {
  const Services& services = parts_.services;
  services.env.log.Notice("Non blocking connect for SYNC fired the event.");
  last_io_ms_ = NowMs();
  state_ = State::kHandshake;
  handshake_.emplace(
      Handshake::Parts{services.env, services.data.dataset.history, parts_.failover, replica_id_},
      services.data.dataset.history.data == History::Data::kDiverged ? Handshake::MayContinue::kNo : may_continue_);
  SendNext();
}

void PrimaryLink::SendNext() {
  link_->Send(handshake_->NextRequest());
  if (AwaitsTakeover()) ++takeover_requests_;
}

void PrimaryLink::OnEnded(const std::string& reason) {
  // While a snapshot loads, or a slow script of the stream runs, only drops the connection. The lost link is handled
  // when the load or the script has ended, because only then is it known what was applied.
  if (runs_stream_) lost_reason_ = "Connection with master lost: " + reason;
  if (runs_stream_ || state_ == State::kLoading) return link_.reset();
  // As in Redis, a lost link aborts a failover only after PSYNC … FAILOVER was sent. Before, the link is made again.
  if (AwaitsTakeover()) return parts_.failover.HandleFailedTakeover();
  const char* what = state_ == State::kLinked       ? "Connection with master lost: "
                     : state_ == State::kConnecting ? "Error condition on socket for SYNC: "
                     : state_ == State::kTransfer   ? "I/O error trying to sync with MASTER: "
                                                    : "Failed to read response from the server: ";
  const bool was_transfer = state_ == State::kTransfer;
  Reconnect(what + reason);
  if (was_transfer) DelayRetry();  // the primary may be unable to write the snapshot, and each attempt makes it fork
}

bool PrimaryLink::AwaitsTakeover() const {
  return state_ == State::kHandshake && handshake_->HasSentPsync() &&
         parts_.failover.state() == Failover::State::kInProgress;
}

void PrimaryLink::OnReceived(Bytes bytes) {
  last_io_ms_ = NowMs();
  // The input of the stream waits while a slow script runs or a snapshot loads, because it must not change the data
  // then.
  const bool must_wait = parts_.services.env.phase.IsInLongTask() || resume_posted_ || !unprocessed_input_.empty();
  if (must_wait || IsPaused()) {
    unprocessed_input_.append(bytes);
    link_->SetReading(Link::Reading::kOff);
    if (!IsPaused()) Resume();
    return;
  }
  HandleInput(bytes);
}

void PrimaryLink::HandleInput(Bytes bytes) {
  if (state_ == State::kHandshake) TakeLines(bytes);
  if (state_ == State::kTransfer) TakeSnapshot(bytes);
  if (state_ != State::kLinked || bytes.empty()) return;
  session_->usage.NoteInput(bytes.size(), parts_.services.env.clock.MonotonicMs());
  Feed(bytes);
}

void PrimaryLink::TakeLines(Bytes& bytes) {
  while (state_ == State::kHandshake && !bytes.empty()) {
    const size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    bytes.remove_prefix(end == Bytes::npos ? bytes.size() : end + 1);
    if (line_.size() > kLongestLine) return Reconnect("The master's answer is too long to be one");
    if (end == Bytes::npos) return;
    if (line_.ends_with('\r')) line_.pop_back();
    HandleAnswer(std::exchange(line_, {}));
  }
}

void PrimaryLink::HandleAnswer(Bytes line) {
  const Handshake::Verdict verdict = handshake_->HandleLine(line);
  // In a FAILOVER: a target that answers that it is a primary refuses, unless an earlier PSYNC … FAILOVER made it one.
  const bool refuses = verdict == Handshake::Verdict::kOldSync || verdict == Handshake::Verdict::kFail ||
                       (verdict == Handshake::Verdict::kTargetIsPrimary && takeover_requests_ == 1);
  if (refuses && AwaitsTakeover()) return parts_.failover.HandleFailedTakeover();
  switch (verdict) {
    case Handshake::Verdict::kNext:
      return SendNext();
    case Handshake::Verdict::kWait:
      return;
    case Handshake::Verdict::kContinue:
      return ContinueReplication();
    case Handshake::Verdict::kSnapshot:
      return BeginTransfer(handshake_->id(), handshake_->offset());
    case Handshake::Verdict::kTargetIsPrimary:
      parts_.failover.EndIfHandedOver();
      return Reconnect(handshake_->failure());
    case Handshake::Verdict::kOldSync:
      SendNext();
      return BeginTransfer(parts_.services.data.dataset.ids.Hex(History::kIdLength), 0);
    case Handshake::Verdict::kFail: {
      const std::string reason = handshake_->failure();
      Reconnect("The handshake with the master failed");
      if (!reason.empty()) last_error_ = PrintablePart(reason, kLongestError);
      return;
    }
  }
}

void PrimaryLink::ContinueReplication() {
  History& history = parts_.services.data.dataset.history;
  if (!handshake_->id().empty()) {
    history.ShiftReplicationId(handshake_->id());
    parts_.replicas.CloseAll();  // replicas learn the new ID when they reconnect
  }
  parts_.stream.Begin();
  if (handshake_->offset() >= 0) {
    history.LeaveOutOffsetsBefore(handshake_->offset());
    parts_.stream.Restart();
  }
  parts_.services.env.log.Notice("MASTER <-> REPLICA sync: Master accepted a Partial Resynchronization.");
  parts_.failover.EndIfHandedOver();
  history.Confirm();  // also for an empty server, which may continue a history
  BecomeLinked(history.stream_db);
}

// --- The snapshot

void PrimaryLink::BeginTransfer(const std::string& id, int64_t offset) {
  parts_.failover.EndIfHandedOver();
  resync_.emplace(Resync::Parts{parts_.services, parts_.replicas, parts_.stream}, id, offset);
  state_ = State::kTransfer;
}

// Passes received bytes to the Resync. If it loads the snapshot directly, each event loop turn passes only one share
// (Resync::MaxBytesPerTurn), so that other clients are served between the shares.
void PrimaryLink::TakeSnapshot(Bytes& bytes) {
  const Bytes share = bytes.substr(0, resync_->MaxBytesPerTurn());
  Bytes rest = share;
  const Resync::Status status = resync_->Take(rest);
  bytes.remove_prefix(share.size() - rest.size());
  switch (status) {
    case Resync::Status::kMore:
      if (bytes.empty()) return;
      unprocessed_input_.append(bytes);
      bytes = {};
      link_->SetReading(Link::Reading::kOff);
      return Resume();
    case Resync::Status::kFailed:
      return HandleFailedSnapshot();
    case Resync::Status::kWhole:
      unprocessed_input_ = std::string(bytes);  // loading serves other clients, which reuse the memory of `bytes`
      bytes = {};
      return LoadSnapshot();
  }
}

void PrimaryLink::LoadSnapshot() {
  const Services& services = parts_.services;
  state_ = State::kLoading;
  link_->SetReading(Link::Reading::kOff);
  const bool is_loaded = resync_->Install();
  if (services.env.phase.HasStopped()) return;
  may_continue_ = is_loaded ? Handshake::MayContinue::kYes : Handshake::MayContinue::kNo;
  if (!is_loaded) return HandleFailedSnapshot();
  resync_.reset();
  ForgetOffsetOnDisk();
  if (link_ == nullptr) return Reconnect("Connection with master lost while the snapshot was loaded");
  parts_.stream.Begin();
  parts_.stream.Restart();
  const std::string rest = std::exchange(unprocessed_input_, {});
  link_->SetReading(Link::Reading::kOn);
  // Selects the database that the snapshot names. The stream need not begin with SELECT if the primary is itself a
  // replica, because such a primary only passes on the stream of its own primary.
  const int stream_db = std::max(services.storage.loading.file_history().stream_db, 0);
  if (stream_db >= services.data.dataset.keyspace.Count()) {
    failed_command_ = "select";
    last_error_ = "ERR DB index is out of range";
    return EndAtFailedCommand();
  }
  BecomeLinked(stream_db);
  Acknowledge();  // a primary that sends the snapshot through a pipe starts the stream after this
  HandleInput(rest);
}

// Drops the connection. Delays the next attempt, which makes the primary fork and will probably fail again.
void PrimaryLink::HandleFailedSnapshot() {
  const std::string reason = resync_->failure();
  const char* const what = state_ == State::kLoading
                               ? "Failed trying to load the MASTER synchronization DB from disk, check server logs."
                               : "The snapshot of the master could not be received";
  Reconnect(what);
  if (!reason.empty()) last_error_ = PrintablePart(reason, kLongestError);
  DelayRetry();
}

void PrimaryLink::DelayRetry() {
  const int64_t delay_ms = std::min(kFirstRetryDelayMs << std::min(failed_snapshot_count_++, 10), kLongestRetryDelayMs);
  retry_at_ms_ = NowMs() + delay_ms;
  parts_.services.env.log.Notice(StrCat("MASTER <-> REPLICA sync: the next attempt is in ", delay_ms / 1000,
                                        " seconds. REPLICAOF with the same host and port starts it now"));
}

void PrimaryLink::SendKeepAliveWhileLoading() {
  if (state_ != State::kLoading || link_ == nullptr) return;
  const int64_t now_ms = NowMs();
  if (now_ms - last_keep_alive_ms_ < kSayEveryMs) return;
  last_keep_alive_ms_ = now_ms;
  link_->Send("\n");
}

// --- The stream

void PrimaryLink::BecomeLinked(int db) {
  const Services& services = parts_.services;
  Session& session = services.clients.registry.Create(services.env.clock.MonotonicMs());
  session_ = &session;
  session.kind = SessionKind::kPrimary;
  session.user = &user_;
  session.authenticated = true;
  session.replies.TurnOff();
  session.transport = this;
  session.addresses.peer = link_->PeerAddress();
  session.addresses.local = link_->LocalAddress();
  session.db = db;
  state_ = State::kLinked;
  const int64_t now_ms = NowMs();
  if (linked_since_ms_ != 0) total_down_ms_ += now_ms - down_since_ms_;
  linked_since_ms_ = now_ms;
  last_error_.clear();
  failed_command_.clear();
  handshake_.reset();
  parts_.stream.SetSource(ReplicationStream::Source::kPrimary);
  services.data.dataset.history.is_shared = true;
  services.data.dataset.history.stream_db = db;
  parts_.services.clients.role.is_linked = true;
  received_to_ = services.data.dataset.history.offset;
  unapplied_parts_.clear();
  unprocessed_input_.clear();
}

void PrimaryLink::Feed(Bytes bytes) {
  if (scratch_.empty()) scratch_.resize(kScratchBytes);
  while (!bytes.empty() && session_ != nullptr && !resume_posted_ && !IsPaused()) {
    const std::span<char> target = session_->in.ReadTarget(scratch_);
    const Bytes piece = bytes.substr(0, target.size());
    std::copy(piece.begin(), piece.end(), target.begin());
    bytes.remove_prefix(piece.size());
    session_->in.Received(piece.size());
    session_->unapplied_bytes += piece.size();
    received_to_ += static_cast<int64_t>(piece.size());
    unapplied_parts_.push_back(log_.Append(piece, {}));
    RunStream();
  }
  if (session_ == nullptr || bytes.empty()) return;
  unprocessed_input_.append(bytes);
  link_->SetReading(Link::Reading::kOff);
}

void PrimaryLink::RunStream() {
  lost_reason_.clear();
  runs_stream_ = true;
  const Pump::Outcome outcome = pump_.Run(*session_);
  runs_stream_ = false;
  if (session_ == nullptr) return;
  AdvanceHistoryOffset();
  if (!failed_command_.empty()) return EndAtFailedCommand();
  if (!lost_reason_.empty()) return Reconnect(lost_reason_);
  if (outcome == Pump::Outcome::kClosing) return EndAtProtocolError();
  if (outcome == Pump::Outcome::kMore) Resume();
  if (outcome == Pump::Outcome::kPaused) link_->SetReading(Link::Reading::kOff);  // until Resume
}

// Called when a command of the stream has failed. Marks the session to close, so that the Pump, which runs the
// session's requests, stops after this command and does not count it as applied.
void PrimaryLink::HandleFailedCommand(Bytes command, Bytes error) {
  if (session_ == nullptr || !failed_command_.empty()) return;
  failed_command_ = command.empty() ? "?" : PrintablePart(command, kLongestError);
  // Cuts the arguments off from the error "unknown command …", because they may be data of users.
  last_error_ = PrintablePart(error.substr(0, error.find(", with args beginning with")), kLongestError);
  session_->close_after_reply = true;
}

// Ends the replication after a command of the primary has failed here. Only a full resynchronisation helps, because
// other commands of the same transaction may have changed data.
void PrimaryLink::EndAtFailedCommand() {
  const Services& services = parts_.services;
  const std::string reason = "The command '" + failed_command_ + "' of the master failed here: " + last_error_;
  services.data.dataset.history.data = History::Data::kDiverged;
  CloseSession();
  DropLink();
  state_ = State::kFailed;
  last_error_ = PrintablePart(reason, kLongestError);
  down_since_ms_ = NowMs();
  parts_.replicas.CloseAllAfterOutput();  // when they ask again, they learn that the link is down
  services.env.log.Warning(
      StrCat(reason, ". The link has ended at offset ", services.data.dataset.history.offset,
             ", and this replica must not become a master. REPLICAOF with the same host and port makes a "
             "full resynchronization"));
}

// Reconnects later for a full resynchronisation, because a partial one would bring the same invalid bytes again.
void PrimaryLink::EndAtProtocolError() {
  CloseSession();
  down_since_ms_ = NowMs();
  Reconnect("The master's stream contains a protocol error");
  may_continue_ = Handshake::MayContinue::kNo;
  DelayRetry();
}

void PrimaryLink::Resume() {
  if (!parts_.services.env.host || std::exchange(resume_posted_, true)) return;
  parts_.services.env.host->Post([this] {
    resume_posted_ = false;
    Continue();
  });
}

void PrimaryLink::Continue() {
  if (session_ != nullptr) RunStream();
  if (link_ == nullptr || resume_posted_ || IsPaused()) return;
  const std::string stashed = std::exchange(unprocessed_input_, {});
  if (!stashed.empty()) HandleInput(stashed);
  if (link_ != nullptr && state_ != State::kLoading && unprocessed_input_.empty() && !IsPaused()) {
    link_->SetReading(Link::Reading::kOn);
  }
}

// Advances the replication offset past the requests that have run. While a transaction is open, the offset stays at its
// MULTI. Requests before the MULTI count, even if they arrived together with it, so that they never run twice.
void PrimaryLink::AdvanceHistoryOffset() {
  const Session& session = *session_;
  History& history = parts_.services.data.dataset.history;
  const int64_t applied_to = received_to_ - static_cast<int64_t>(session.unapplied_bytes);
  history.stream_db = session.db;
  while (history.offset < applied_to) {
    BlobPart& part = unapplied_parts_.front();
    const auto wanted = static_cast<size_t>(applied_to - history.offset);
    if (part.size <= wanted) {
      parts_.stream.AppendApplied(part);
      unapplied_parts_.pop_front();
      continue;
    }
    parts_.stream.AppendApplied({part.blob, part.offset, wanted});
    part.offset += wanted;
    part.size -= wanted;
  }
}

void PrimaryLink::EndTurn() {
  if (std::exchange(owes_ack_, false) && session_ != nullptr) Acknowledge();
}

void PrimaryLink::Acknowledge() {
  if (link_ == nullptr) return;
  const std::string offset = std::to_string(parts_.services.data.dataset.history.offset);
  std::string text;
  if (parts_.services.storage.aof.IsOn()) {
    AppendRequest(text, {"REPLCONF", "ACK", offset, "FACK", std::to_string(OffsetOnDisk())});
  } else {
    AppendRequest(text, {"REPLCONF", "ACK", offset});
  }
  link_->Send(text);
}

void PrimaryLink::ForgetOffsetOnDisk() {
  mark_ = {parts_.services.storage.aof.writer().AppendedBytes(), 0};
  offset_on_disk_ = 0;
}

int64_t PrimaryLink::OffsetOnDisk() {
  // Until the first base is complete (state kOn), the next start would ignore the incremental file, even if synced.
  if (parts_.services.storage.aof.state() != AppendOnlyFile::State::kOn) return offset_on_disk_;
  AofWriter& writer = parts_.services.storage.aof.writer();
  if (writer.SyncedBytes() >= mark_.appended_bytes) {
    offset_on_disk_ = mark_.offset;
    mark_ = {writer.AppendedBytes(), parts_.services.data.dataset.history.offset};
    if (writer.SyncedBytes() >= mark_.appended_bytes) offset_on_disk_ = mark_.offset;
  }
  return offset_on_disk_;
}

void PrimaryLink::Flush(size_t /*most_bytes*/) { session_->out.Consume(session_->out.Size()); }

void PrimaryLink::Close() {
  Session* const session = std::exchange(session_, nullptr);
  parts_.services.clients.role.is_linked = false;
  if (session == nullptr) return;
  session->transport = nullptr;
  const auto remove = [this, session] { parts_.services.clients.registry.Remove(*session); };
  if (parts_.services.env.host) {
    parts_.services.env.host->Post(remove);
  } else {
    remove();
  }
  if (state_ != State::kLinked) return;  // this class closes the session itself
  state_ = State::kConnect;
  DropLink();
  down_since_ms_ = NowMs();
  last_linked_at_ms_ = down_since_ms_;
  last_error_ = "Connection with master lost.";
  parts_.services.env.log.Notice(last_error_);
}

void PrimaryLink::CloseSession() {
  if (session_ == nullptr) return;
  last_linked_at_ms_ = NowMs();
  AdvanceHistoryOffset();
  state_ = State::kConnect;
  parts_.services.env.log.Notice("Caching the disconnected master state.");
  parts_.services.clients.registry.Close(*session_);
  unapplied_parts_.clear();
  unprocessed_input_.clear();
}

int64_t PrimaryLink::NowMs() const { return parts_.services.env.real_clock.NowMs(); }

bool PrimaryLink::IsLate(int64_t since_ms) const {
  return NowMs() - since_ms > int64_t{parts_.services.env.settings.repl_timeout} * 1000;
}

void PrimaryLink::Cron() {
  switch (state_) {
    case State::kNone:
    case State::kLoading:
    case State::kFailed:
      return;
    case State::kConnect:
      if (NowMs() >= retry_at_ms_) Connect();
      return;
    case State::kConnecting:
    case State::kHandshake:
      if (!IsLate(state_ == State::kConnecting ? began_ms_ : last_io_ms_)) return;
      return Reconnect("Timeout connecting to the MASTER...");
    case State::kTransfer:
      if (!IsLate(last_io_ms_)) return;
      return Reconnect(
          "Timeout receiving bulk data from MASTER... If the problem persists try to set the 'repl-timeout' "
          "parameter in redis.conf to a larger value.");
    case State::kLinked:
      if (IsLate(last_io_ms_)) return Reconnect("MASTER timeout: no data nor PING received...");
      if (NowMs() - linked_since_ms_ >= kLongestRetryDelayMs) failed_snapshot_count_ = 0;
      return Acknowledge();
  }
}

PrimaryLink::Figures PrimaryLink::GetFigures() const {
  const int64_t now_ms = NowMs();
  const int64_t io_s = (now_ms - last_io_ms_) / 1000;
  const bool is_linked = state_ == State::kLinked;
  const int64_t down_ms = is_linked || linked_since_ms_ == 0 ? 0 : now_ms - down_since_ms_;
  Figures figures{.transfer_io_s = io_s,
                  .down_s = (now_ms - down_since_ms_) / 1000,
                  .data_age_s = last_linked_at_ms_ ? (now_ms - *last_linked_at_ms_) / 1000 : -1,
                  .read_offset = parts_.services.data.dataset.history.offset,
                  .current_sync_attempts = current_sync_attempts_,
                  .total_sync_attempts = total_sync_attempts_,
                  .up_for_s = is_linked ? (now_ms - linked_since_ms_) / 1000 : -1,
                  .total_down_s = (total_down_ms_ + down_ms) / 1000};
  if (state_ == State::kConnect && now_ms < retry_at_ms_) figures.retry_in_s = (retry_at_ms_ - now_ms + 999) / 1000;
  if (is_linked) {
    figures.last_io_s = figures.data_age_s = io_s;
    figures.read_offset = received_to_ + static_cast<int64_t>(unprocessed_input_.size());
  }
  if (resync_) {
    const auto total = resync_->receiver().TotalBytes();
    figures.transfer_total = total ? static_cast<int64_t>(*total) : -1;
    figures.transfer_read = static_cast<int64_t>(resync_->receiver().DeliveredBytes());
  }
  return figures;
}

}  // namespace respite
