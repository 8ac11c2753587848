#include "server/replication/full_sync.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "persistence/file_system.h"
#include "persistence/rdb_file_writer.h"
#include "protocol/shared_log.h"
#include "server/clients/clients.h"
#include "server/config/settings.h"
#include "server/dataset/dataset.h"
#include "server/replication/replicas.h"
#include "server/replication/replication_stream.h"
#include "server/replication/snapshot_receiver.h"
#include "server/runtime/host.h"
#include "server/storage/child_processes.h"
#include "server/storage/children.h"
#include "server/storage/rdb_contents.h"

namespace respite {

std::vector<Session*> FullSync::ReplicasIn(Replica::State state) const {
  std::vector<Session*> found;
  for (Session* session : parts_.replicas.All())
    if (session->replica->state == state) found.push_back(session);
  return found;
}

std::vector<Session*> FullSync::ReceivingFrom(Source source) const {
  std::vector<Session*> found = ReplicasIn(Replica::State::kReceives);
  std::erase_if(
      found, [&](const Session* session) { return (session->replica->file != nullptr) != (source == Source::kFile); });
  return found;
}

void FullSync::ProvideSnapshot(Session& session) {
  Replica& replica = *session.replica;
  replica.state = Replica::State::kAwaitsSnapshot;
  replica.waiting_since_ms = parts_.env.real_clock.NowMs();
  Logger& log = parts_.env.log;
  if (JoinRunningSnapshot(session)) return;
  if (IsStreaming()) return log.Notice("Current BGSAVE has socket target. Waiting for next BGSAVE for SYNC");
  if (parts_.snapshots.IsRunning()) {
    return log.Notice("Can't attach the replica to the current BGSAVE. Waiting for next BGSAVE for SYNC");
  }
  if (parts_.child_processes.Busy()) {
    return log.Notice("No BGSAVE in progress, but another BG operation is active. BGSAVE for replication delayed");
  }
  if (!IsDue(ReplicasIn(Replica::State::kAwaitsSnapshot))) return log.Notice("Delay next BGSAVE for diskless SYNC");
  StartForWaitingReplicas();
}

bool FullSync::JoinRunningSnapshot(Session& session) {
  const Contents contents = ContentsFor({&session});
  if (!parts_.snapshots.IsRunning() || contents.has_functions_only || contents.is_for_redis_70) return false;
  const std::vector<Session*> others = ReplicasIn(Replica::State::kAwaitsEnd);
  if (others.empty()) return false;
  session.replica->sent_offset = others.front()->replica->sent_offset;
  parts_.env.log.Notice("Waiting for end of BGSAVE for SYNC");
  SendFullResync(session, Replica::State::kAwaitsEnd);
  return true;
}

void FullSync::KillChildIfUnneeded(Replica::State state) {
  // Kills the child process of a BGSAVE if the last replica that waited for its file has left. With save points
  // (`save`), lets the child run, because they also need the file.
  const bool was_last = state == Replica::State::kAwaitsEnd && ReplicasIn(Replica::State::kAwaitsEnd).empty();
  if (was_last && parts_.env.settings.save.empty() && parts_.snapshots.IsRunning()) parts_.child_processes.Kill();
  if (!IsStreaming() || !ReceivingFrom(Source::kPipe).empty()) return;
  parts_.env.log.Notice("Diskless rdb transfer, last replica dropped, killing fork child.");
  pipe_.reset();
  if (parts_.child_processes.Does(ChildWork::kTransfer)) parts_.child_processes.Kill();
}

FullSync::Contents FullSync::ContentsFor(const std::vector<Session*>& waiting) {
  const auto is_older = [](const Session* session) {
    const std::string& version = session->replica->version;
    return version.empty() || version.starts_with("7.0") || version.starts_with("7.1");
  };
  const bool knows_psync = std::ranges::all_of(waiting, [](const Session* one) { return one->replica->speaks_psync; });
  return {.has_functions_only = waiting.front()->replica->wants_functions_only,
          .is_for_redis_70 = knows_psync && std::ranges::any_of(waiting, is_older)};
}

bool FullSync::GoesThroughPipe(const std::vector<Session*>& waiting) const {
  const auto takes = [](const Session* session) { return session->replica->accepts_unknown_length; };
  const Contents contents = ContentsFor(waiting);
  const bool must = contents.has_functions_only || contents.is_for_redis_70;  // the dump file would have other contents
  return std::ranges::all_of(waiting, takes) && (parts_.env.settings.repl_diskless_sync || must);
}

// Returns whether the snapshot must begin now. A snapshot in a file begins immediately. A snapshot through a pipe
// serves only replicas that wait when its child begins. So the child begins after repl-diskless-sync-delay seconds, or
// as soon as repl-diskless-sync-max-replicas replicas wait.
bool FullSync::IsDue(const std::vector<Session*>& waiting) const {
  if (!GoesThroughPipe(waiting)) return true;
  const Settings& settings = parts_.env.settings;
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  const auto most = static_cast<size_t>(settings.repl_diskless_sync_max_replicas);
  if (most != 0 && waiting.size() >= most) return true;
  return std::ranges::any_of(waiting, [&](const Session* session) {
    return now_ms - session->replica->waiting_since_ms >= int64_t{settings.repl_diskless_sync_delay} * 1000;
  });
}

void FullSync::Cron() {
  if (parts_.child_processes.Busy() || IsStreaming()) return;  // the pipe may hold data after its child has ended
  const std::vector<Session*> waiting = ReplicasIn(Replica::State::kAwaitsSnapshot);
  if (!waiting.empty() && IsDue(waiting)) StartForWaitingReplicas();
}

// Starts a snapshot with the contents that the first waiting replica wants: all data, or functions only. Replicas that
// want other contents wait for the next snapshot.
void FullSync::StartForWaitingReplicas() {
  std::vector<Session*> waiting = ReplicasIn(Replica::State::kAwaitsSnapshot);
  const bool functions_only = waiting.front()->replica->wants_functions_only;
  std::erase_if(waiting,
                [&](const Session* session) { return session->replica->wants_functions_only != functions_only; });
  const bool through_pipe = GoesThroughPipe(waiting) && parts_.env.network;
  parts_.env.log.Notice(std::string("Starting BGSAVE for SYNC with target: ") +
                        (through_pipe ? "replicas sockets" : "disk"));
  if (through_pipe) {
    StartThroughPipe(waiting);
  } else {
    StartOnDisk(waiting);
  }
}

void FullSync::SendFullResync(Session& session, Replica::State state) {
  Replica& replica = *session.replica;
  replica.state = state;
  replica.sent_at_ms = parts_.env.real_clock.NowMs();
  if (!replica.speaks_psync) return;
  const History& history = parts_.data.history;
  session.out.Append(StrCat("+FULLRESYNC ", history.id, " ", replica.sent_offset, "\r\n"));
  parts_.clients.QueueFlush(session);
}

void FullSync::StartOnDisk(const std::vector<Session*>& waiting) {
  if (parts_.snapshots.StartBackgroundSave() != Snapshots::Outcome::kDone) {
    parts_.env.log.Warning("BGSAVE for replication failed");
    return SendErrorAndClose(waiting);
  }
  has_begun_file_ = true;
  parts_.stream.ForgetSelectedDb();
  for (Session* session : waiting) {
    session->replica->sent_offset = parts_.data.history.offset;
    SendFullResync(*session, Replica::State::kAwaitsEnd);
  }
}

void FullSync::SendErrorAndClose(const std::vector<Session*>& waiting) {
  for (Session* session : waiting) {
    session->out.Append("-ERR BGSAVE failed, replication can't continue\r\n");
    session->close_after_reply = true;
    parts_.clients.QueueFlush(*session);
  }
}

void FullSync::StartThroughPipe(const std::vector<Session*>& waiting) {
  auto ends = SnapshotPipe::Open();
  if (!ends) {
    parts_.env.log.Warning("Can't create a pipe for replicas: " + IoErrorText(ends.error()));
    return SendErrorAndClose(waiting);
  }
  const std::string mark = RandomHex(SnapshotReceiver::kMarkLength);
  const Contents contents = ContentsFor(waiting);
  const auto pid = parts_.child_processes.Start(
      ChildWork::kTransfer,
      [this, mark, contents](ChildReporter& reporter) { return WriteIntoPipe(reporter, mark, contents); },
      [this](const ChildEnd& end) {
        if (end.outcome == ChildOutcome::kSucceeded) {
          parts_.env.log.Notice("Background RDB transfer terminated with success");
        } else {
          parts_.env.log.Warning("Background transfer error");
        }
      },
      ends.value().write_end.Get());
  if (!pid) {
    parts_.env.log.Warning("Can't save in background: fork: " + IoErrorText(pid.error()));
    return SendErrorAndClose(waiting);
  }
  parts_.env.log.Notice(StrCat("Background RDB transfer started by pid ", pid.value()));
  parts_.stream.ForgetSelectedDb();
  for (Session* session : waiting) {
    session->replica->sent_offset = parts_.data.history.offset;
    SendFullResync(*session, Replica::State::kReceives);
  }
  pipe_.emplace(
      std::move(ends.value().read_end), mark, *parts_.env.network, [this](Bytes bytes) { ForwardSnapshotBytes(bytes); },
      [this](bool is_whole) { HandlePipeEnd(is_whole); });
}

// Writes the snapshot into the pipe, after a header and before the mark that ends it. Runs in the child process.
// Returns false on failure.
bool FullSync::WriteIntoPipe(ChildReporter& reporter, const std::string& mark, Contents contents) const {
  PipeFile file(reporter.OutputDescriptor());
  if (file.Write("$EOF:" + mark + "\r\n").error != kNoError) return false;
  const RdbPurpose purpose = contents.has_functions_only ? RdbPurpose::kFunctions : RdbPurpose::kSnapshot;
  RdbSaveOptions options = parts_.contents.Options();
  if (contents.is_for_redis_70) options.dialect = RdbDialect::k70;
  const auto saved =
      WriteRdb(file, parts_.contents.ContentFor(purpose), options, parts_.contents.ProgressCallback(&reporter));
  return saved && file.Write(mark).error == kNoError;
}

void FullSync::ForwardSnapshotBytes(Bytes bytes) {
  const BlobPart part{BlobRef::Copy(bytes), 0, bytes.size()};
  for (Session* session : ReceivingFrom(Source::kPipe)) {
    session->out.AppendPart(part);
    parts_.clients.QueueFlush(*session);
    if (session->out.Size() > SnapshotPipe::kWindowBytes) pipe_->Pause();
  }
}

void FullSync::HandlePipeEnd(bool is_whole) {
  parts_.env.log.Notice(StrCat("Diskless rdb transfer, done reading from pipe, ", ReceivingFrom(Source::kPipe).size(),
                               " replicas still up."));
  pipe_.reset();
  for (Session* session : ReceivingFrom(Source::kPipe)) {
    if (!is_whole) {
      parts_.env.log.Warning("Closing replica " + Replicas::NameOf(*session) + ": its snapshot could not be written");
      parts_.clients.Close(*session);
      continue;
    }
    parts_.env.log.Notice("Streamed replica with replica " + Replicas::NameOf(*session) +
                          " (socket). Waiting for REPLCONF ACK from replica to enable streaming");
    session->replica->acked_at_ms = parts_.env.real_clock.NowMs();
    session->replica->state = Replica::State::kAwaitsAck;
    if (session->replica->wants_rdb_only) CloseAfterSnapshot(*session);
  }
}

void FullSync::HandleSnapshotEnd(Snapshots::Outcome outcome) {
  for (Session* session : ReplicasIn(Replica::State::kAwaitsEnd)) {
    if (outcome == Snapshots::Outcome::kDone) {
      OpenFile(*session);
    } else {
      parts_.env.log.Warning("SYNC failed. BGSAVE child returned an error");
      parts_.clients.Close(*session);
    }
  }
}

void FullSync::OpenFile(Session& session) {
  Replica& replica = *session.replica;
  auto file = parts_.env.files.Open(parts_.snapshots.BackgroundPath(), FileSystem::Mode::kRead);
  const auto bytes = file ? file.value()->Size() : Result<uint64_t, IoError>(Failure(file.error()));
  if (!bytes) {
    parts_.env.log.Warning("SYNC failed. Can't open/stat DB after BGSAVE: " + IoErrorText(bytes.error()));
    return parts_.clients.Close(session);
  }
  replica.file = std::move(file).value();
  replica.file_bytes = bytes.value();
  replica.file_sent_bytes = 0;
  replica.state = Replica::State::kReceives;
  replica.sent_at_ms = parts_.env.real_clock.NowMs();
  session.out.Append(StrCat("$", replica.file_bytes, "\r\n"));
}

// Closes a replica that requested only the snapshot (rdb-only), after its pending output was sent.
void FullSync::CloseAfterSnapshot(Session& session) {
  session.replica->state = Replica::State::kServed;
  session.close_after_reply = true;
  parts_.clients.QueueFlush(session);
}

void FullSync::SendFilePart(Session& session) {
  Replica& replica = *session.replica;
  while (replica.file_sent_bytes < replica.file_bytes && session.out.Size() < SnapshotPipe::kWindowBytes) {
    const uint64_t wanted = std::min<uint64_t>(SnapshotPipe::kPieceBytes, replica.file_bytes - replica.file_sent_bytes);
    BlobRef blob = BlobRef::OfSize(wanted, wanted);
    const IoProgress got = replica.file->ReadAt(replica.file_sent_bytes, {blob.Data(), wanted});
    if (got.error != kNoError || got.bytes != wanted) {
      parts_.env.log.Warning("Read error sending DB to replica: " +
                             (got.error == kNoError ? "premature EOF" : IoErrorText(got.error)));
      return parts_.clients.Close(session);
    }
    session.out.AppendPart({std::move(blob), 0, wanted});
    replica.file_sent_bytes += wanted;
    parts_.clients.QueueFlush(session);
  }
  if (replica.file_sent_bytes < replica.file_bytes) return;
  replica.file.reset();
  if (replica.wants_rdb_only) return CloseAfterSnapshot(session);
  parts_.replicas.PutOnline(session);
  parts_.env.log.Notice("Synchronization with replica " + Replicas::NameOf(session) + " succeeded");
}

void FullSync::EndTurn() {
  if (parts_.replicas.IsEmpty() && !has_begun_file_) return;
  if (pipe_ && pipe_->IsPaused()) ContinueReading();
  SendFiles();
}

void FullSync::ContinueReading() {
  const auto is_full = [](const Session* session) { return session->out.Size() > SnapshotPipe::kWindowBytes; };
  const std::vector<Session*> receiving = ReceivingFrom(Source::kPipe);
  if (std::ranges::none_of(receiving, is_full)) return pipe_->Resume();
  // Posts an empty task if a replica's output is full, although the socket of the replica has room. The server sends
  // this output at the end of the turn; the task makes another turn begin, in which ContinueReading checks the output
  // again. If the socket has no room, no task is needed, because the socket starts a turn when it has room again.
  const auto may_send = [&](const Session* session) {
    return is_full(session) && session->transport != nullptr && !session->transport->IsWaitingToWrite();
  };
  if (std::ranges::any_of(receiving, may_send) && parts_.env.host) parts_.env.host->Post([] {});
}

void FullSync::SendFiles() {
  const std::vector<Session*> receiving = ReceivingFrom(Source::kFile);
  if (receiving.empty()) {
    if (!has_begun_file_ || parts_.snapshots.IsRunning() || !ReplicasIn(Replica::State::kAwaitsEnd).empty()) return;
    has_begun_file_ = false;
    return parts_.snapshots.RemoveBackgroundSyncFile();
  }
  for (Session* session : receiving) SendFilePart(*session);
  // Posts an empty task, if a replica that receives a file has room for more output: the task makes the event loop
  // begin another turn, in which the file is continued. A replica whose socket is full needs no task, because the
  // socket starts a turn when it has room again.
  const auto has_room = [](const Session* session) {
    return session->replica->file != nullptr &&
           (session->transport == nullptr || !session->transport->IsWaitingToWrite());
  };
  if (std::ranges::any_of(receiving, has_room) && parts_.env.host) parts_.env.host->Post([] {});
}

}  // namespace respite
