#include "server/storage/aof_loader.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "persistence/aof_damage.h"
#include "persistence/file_head.h"
#include "persistence/file_system.h"
#include "server/catalogue/command_table.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/unit.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_loader.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

bool AofLoader::IsFailedOrStopped(Outcome outcome) {
  return outcome == Outcome::kFailed || outcome == Outcome::kStopped;
}

AofLoader::AofLoader(const Services& services)
    : services_(services),
      prefetcher_({services.data.dataset.keyspace, services.execution.executor}),
      user_(services.clients.users.MakeUnlimitedUser()),
      session_(services.clients.registry.CreateDetached()) {
  session_->user = &user_;
}

AofLoader::~AofLoader() = default;

AofLoader::Outcome AofLoader::Fail(const std::string& text) {
  services_.env.log.Warning(text);
  return Outcome::kFailed;
}

LoadOutcome AofLoader::Load(const Session* holder) {
  const AofDirectory& directory = services_.storage.aof.directory();
  const auto total = directory.TotalBytes();
  if (!total) return LoadOutcome::kFailed;
  return LoadFiles({services_.env.settings.appenddirname, directory.manifest(), total.value()}, holder);
}

LoadOutcome AofLoader::LoadFiles(AofFiles files, const Session* holder) {
  files_ = std::move(files);
  const AofManifest& manifest = files_.manifest;
  const uint64_t dirty = services_.data.dataset.stats.dirty;
  services_.storage.loading.Begin(files_.total_bytes, ServerPhase::Load::kInTurn, holder);
  Dataset& data = services_.data.dataset;
  const Journals::Mute silence(data.journals);
  ChangeListener* const listener = std::exchange(data.listener, nullptr);
  Outcome outcome = Outcome::kLoaded;
  if (manifest.base()) {
    outcome = LoadPart(manifest.base()->name, "base", manifest.incrementals().empty() ? Place::kLast : Place::kMiddle);
    base_bytes_ = bytes_before_;
  }
  for (const AofManifest::Part& part : manifest.incrementals()) {
    if (IsFailedOrStopped(outcome)) break;
    outcome = LoadPart(part.name, "incr", &part == &manifest.incrementals().back() ? Place::kLast : Place::kMiddle);
  }
  if (outcome != Outcome::kStopped && !ToleratesFailures()) outcome = Outcome::kFailed;
  services_.storage.aof.SetFailedCommandCount(failures_);
  data.listener = listener;
  services_.storage.loading.End();
  services_.data.dataset.stats.dirty = dirty;
  if (outcome == Outcome::kStopped) return LoadOutcome::kStopped;
  return outcome == Outcome::kFailed ? LoadOutcome::kFailed : LoadOutcome::kLoaded;
}

AofLoader::Outcome AofLoader::LoadPart(const std::string& name, const char* kind, Place place) {
  auto file = services_.env.files.Open(PathOf(name), FileSystem::Mode::kRead);
  const auto bytes = file ? file.value()->Size() : Result<uint64_t, IoError>(Failure(file.error()));
  if (!bytes) {
    return Fail("Fatal error: can't open the append log file " + name + " for reading: " + IoErrorText(bytes.error()));
  }
  const int64_t started_us = services_.env.clock.MonotonicUs();
  const Outcome outcome = LoadFile({name, *file.value(), bytes.value(), place}, kind == Bytes("base"));
  bytes_before_ += bytes.value();
  if (IsFailedOrStopped(outcome)) return outcome;
  const double elapsed_s = static_cast<double>(services_.env.clock.MonotonicUs() - started_us) / 1e6;
  services_.env.log.Notice("DB loaded from " + std::string(kind) + " file " + name + ": " + FixedText(elapsed_s, 3) +
                           " seconds");
  return outcome;
}

AofLoader::Outcome AofLoader::LoadFile(const Part& part, bool is_base) {
  uint64_t offset = 0;
  if (is_base && part.bytes == 0 && part.name.ends_with(".rdb")) {
    return Fail("Fatal error: the AOF base file " + part.name + " is empty, which no server has written");
  }
  const auto head = DetectFileFormat(part.file);
  if (!head) {
    return Fail("Unrecoverable error reading the append only file " + part.name + ": " + IoErrorText(head.error()));
  }
  if (head.value().kind == FileFormat::Kind::kOther) {
    return Fail("Fatal error: the append only file " + part.name + " is " + head.value().what +
                ". The file was not changed. Do not truncate it: it may be the only copy of the data.");
  }
  if (head.value().kind == FileFormat::Kind::kRdb) {
    const RdbLoadResult end = LoadPreamble(part, is_base);
    if (end.outcome == LoadOutcome::kStopped) return Outcome::kStopped;
    if (end.outcome != LoadOutcome::kLoaded) return Outcome::kFailed;
    offset = end.offset;
    if (offset < part.bytes) services_.env.log.Notice("Reading the remaining AOF tail...");
  }
  return RunRecords(part, offset);
}

RdbLoadResult AofLoader::LoadPreamble(const Part& part, bool is_base) {
  services_.env.log.Notice(is_base ? "Reading RDB base file on AOF loading..."
                                   : "Reading RDB preamble from AOF file...");
  // Keeps expired keys. The records after the RDB were written while these keys existed, and may use them.
  RdbLoadResult end = LoadRdb(services_, part.file, part.name, 0,
                              {.expired = RdbLoadOptions::Expired::kKeep, .loaded_before = bytes_before_});
  if (end.outcome == LoadOutcome::kFailed) {
    Fail("Error reading the RDB " + std::string(is_base ? "base file " : "preamble of the AOF file ") + part.name +
         ", AOF loading aborted");
  }
  return end;
}

AofLoader::Outcome AofLoader::RunRecords(const Part& part, uint64_t offset) {
  AofReader reader(part.file, offset);
  RequestBatch batch;
  group_.reset();
  session_->db = 0;
  for (;;) {
    batch.Clear();
    const AofReader::Status status = reader.Next(batch);
    if (status != AofReader::Status::kRecords) {
      services_.storage.loading.file_history().record_bytes += reader.Offset() - offset;
      return HandleEndOfRecords(part, reader, status);
    }
    if (!Run(part, batch)) return stopped_ ? Outcome::kStopped : Outcome::kFailed;
    if (ReportProgress(bytes_before_ + reader.Offset()) == Loading::Order::kStop) return Outcome::kStopped;
  }
}

Loading::Order AofLoader::ReportProgress(uint64_t bytes) {
  if (bytes < next_report_bytes_) return Loading::Order::kContinue;
  next_report_bytes_ = bytes + static_cast<uint64_t>(services_.env.settings.loading_process_events_interval_bytes);
  reported_ms_ = services_.env.real_clock.NowMs();
  return services_.storage.loading.Advance(bytes);
}

void AofLoader::ReportIfSlow(const Record& record) {
  constexpr int64_t kLongestMs = 100;
  if (services_.env.real_clock.NowMs() - reported_ms_ < kLongestMs) return;
  next_report_bytes_ = 0;
  stopped_ = ReportProgress(bytes_before_ + record.offset) == Loading::Order::kStop;
}

bool AofLoader::Run(const Part& part, const RequestBatch& batch) {
  const auto& resolved = prefetcher_.Resolve(batch, session_->db);
  for (size_t i = 0; i < batch.requests.size(); ++i) {
    const auto words = batch.Words(batch.requests[i]);
    const Command* command = FindCommandBeforeRenaming(words, resolved[i].command);
    if (command == nullptr) {
      Fail(StrCat("Unknown command '", words[0], "' reading the append only file ", part.name, " (at offset ",
                  batch.requests[i].offset, ")"));
      return false;
    }
    if (!RunOne(part, {*command, words, batch.requests[i].offset})) return false;
  }
  return true;
}

const Command* AofLoader::FindCommandBeforeRenaming(std::span<const Bytes> arguments, const Command* found) const {
  const CommandTable& table = services_.env.commands;
  const Command* renamed = table.HasRenamedCommands() ? table.FindRenamed(arguments[0]) : nullptr;
  if (renamed == nullptr && found == nullptr) return table.FindForReplay(arguments);
  if (renamed == nullptr || renamed->subcommands.empty() || arguments.size() < 2) return renamed ? renamed : found;
  return table.FindSubcommand(*renamed, arguments[1]);
}

bool AofLoader::RunOne(const Part& part, const Record& record) {
  services_.storage.loading.SlowDown();
  const bool begins = record.command.Spec().transaction == TransactionRole::kBegins;
  const bool ends = record.command.Spec().transaction == TransactionRole::kExecutes;
  if (group_ && ends) return RunGroup(part);
  if (group_ && begins && !group_->second_multi_offset) group_->second_multi_offset = record.offset;
  if (group_) {
    group_->commands.Queue(record.command, record.words);
    group_->offsets.push_back(record.offset);
    return true;
  }
  if (begins) {
    group_.emplace();
    group_->offset = record.offset;
    group_->commands.Begin();
    return true;
  }
  Unit unit(services_.data.dataset, services_.env.clock.WallMs(), ExpiryRule::kIgnoreDeadlines,
            Unit::Origin::kReplayed);
  return Replay(unit, part, record);
}

bool AofLoader::RunGroup(const Part& part) {
  Unit unit(services_.data.dataset, services_.env.clock.WallMs(), ExpiryRule::kIgnoreDeadlines,
            Unit::Origin::kReplayed);
  const Group group = *std::exchange(group_, std::nullopt);
  auto offset = group.offsets.begin();
  bool continues_later = true;
  group.commands.ForEach([&](const Command& command, std::span<const Bytes> words) {
    continues_later = continues_later && Replay(unit, part, {command, words, *offset});
    ++offset;
  });
  return continues_later;
}

bool AofLoader::Replay(Unit& unit, const Part& part, const Record& record) {
  const auto done =
      services_.execution.executor.Replay(RequestPath::kFile, unit, *session_, record.command, record.words);
  if (record.command.Is(kNoScript)) ReportIfSlow(record);  // commands that run scripts or load libraries have kNoScript
  if (stopped_) return false;
  if (done) return true;
  NoteFailure(part, record, done.error());
  if (!record.command.Spec().selects_database) return true;
  // Ends loading, because a SELECT has failed: the commands after it must not run in the previously selected database.
  Fail(StrCat("Fatal error: the append only file ", part.name,
              " selects a database that this server does not have (databases ", services_.data.dataset.keyspace.Count(),
              ")"));
  return false;
}

void AofLoader::NoteFailure(const Part& part, const Record& record, const std::string& error) {
  constexpr uint64_t kLogged = 20;
  if (failures_++ >= kLogged) return;
  std::string line = StrCat("The command '", record.command.full_name, "' at offset ", record.offset,
                            " of the append only file ", part.name, " failed: ", error);
  if (record.words.size() > 1) line += " (its first argument: " + Quoted(record.words[1].substr(0, 64)) + ")";
  services_.env.log.Warning(line);
}

bool AofLoader::ToleratesFailures() {
  if (failures_ == 0) return true;
  const std::string count = StrCat(failures_, " of the commands in the append only file failed");
  if (services_.env.settings.aof_load_failed_commands) {
    services_.env.log.Warning(count +
                              ". The data set lacks their effects; it is used since aof-load-failed-commands is yes");
    return true;
  }
  Fail(
      "Fatal error: " + count +
      "; the first of them are logged above. The files were not changed. Make a backup of them, then either repair the "
      "logged commands, or start with 'aof-load-failed-commands yes' to load the data without their effects.");
  return false;
}

AofLoader::Outcome AofLoader::HandleEndOfRecords(const Part& part, const AofReader& reader, AofReader::Status status) {
  const std::string at = StrCat(" (at offset ", reader.Offset(), ")");
  switch (status) {
    case AofReader::Status::kReadError:
      return Fail("Unrecoverable error reading the append only file " + part.name + ": " + IoErrorText(reader.Error()));
    case AofReader::Status::kFormatError:
      if (MayDropTail(part, reader.Offset()))
        return Cut(part, group_ ? group_->offset : reader.Offset(), Tail::kCorrupt);
      return Fail("Bad file format reading the append only file " + part.name +
                  ": make a backup of your AOF file, then use ./redis-check-aof --fix <filename.manifest>" + at);
    case AofReader::Status::kEnd:
      if (!group_) return Outcome::kLoaded;
      services_.env.log.Warning("Revert incomplete MULTI/EXEC transaction in AOF file " + part.name);
      return Cut(part, group_->offset, Tail::kIncomplete);
    default:
      return TruncateIfIncomplete(part, reader.Offset());
  }
}

// Truncates the file if the record (command) at `offset` is incomplete because the file ends there. Fails if complete
// records follow, or perhaps follow: then the length in this record is probably damaged, and truncating the file would
// lose the records after it.
AofLoader::Outcome AofLoader::TruncateIfIncomplete(const Part& part, uint64_t offset) {
  const uint64_t cut = group_ ? group_->offset : offset;
  const LaterRecord later = FindLaterRecord(part.file, offset, part.bytes);
  switch (later.kind) {
    case LaterRecord::Kind::kNone:
      return Cut(part, cut, Tail::kIncomplete);
    case LaterRecord::Kind::kReadError:
      return Fail("Unrecoverable error reading the append only file " + part.name + ": " + IoErrorText(later.error));
    default:
      return Fail("Fatal error: " + TruncationRefusalText(PathOf(part.name), cut, later));
  }
}

bool AofLoader::MayDropTail(const Part& part, uint64_t offset) const {
  return part.bytes - offset < static_cast<uint64_t>(services_.env.settings.aof_load_corrupt_tail_max_size);
}

// Copies the end of a file to another file before it is removed, because it may contain commands that were
// acknowledged. If this fails, for example because the disk is full, the server starts nevertheless.
void AofLoader::KeepEnd(const Part& part, uint64_t offset) {
  const auto copy = KeepRemovedPart(services_.env.files, part.file, PathOf(part.name), offset, part.bytes);
  if (copy) return services_.env.log.Warning("The removed end of the file is kept in " + copy.value());
  services_.env.log.Warning("Cannot keep the removed end of the file: " + IoErrorText(copy.error()));
}

AofLoader::Outcome AofLoader::Cut(const Part& part, uint64_t offset, Tail tail) {
  const bool is_corrupt = tail == Tail::kCorrupt;
  if (group_ && group_->second_multi_offset) {
    return Fail(StrCat("Fatal error: the transaction at offset ", offset, " of the append only file ", part.name,
                       " has no EXEC, but another MULTI is at offset ", *group_->second_multi_offset,
                       ". The file was not changed. An EXEC before that offset is missing or damaged."));
  }
  if (failures_ != 0 && !services_.env.settings.aof_load_failed_commands) return Outcome::kFailed;  // keeps the file
  const std::string number = std::to_string(offset);
  if (!files_.may_be_changed) {
    return Fail("Fatal error: the append only file " + part.name + (is_corrupt ? " is corrupt" : " is incomplete") +
                " after offset " + number +
                ". The file was not changed. Repair a copy of it with respite-check-aof --fix.");
  }
  if (!is_corrupt && !services_.env.settings.aof_load_truncated) {
    return Fail("Unexpected end of file reading the append only file " + part.name + " (after offset " + number +
                "). You can: 1) Make a backup of your AOF file, then use ./redis-check-aof --fix <filename.manifest>. "
                "2) Alternatively you can set the 'aof-load-truncated' configuration option to yes and restart the "
                "server.");
  }
  services_.env.log.Warning(is_corrupt ? "!!! Warning: corrupt AOF file tail!!!"
                                       : "!!! Warning: short read while loading the AOF file " + part.name + "!!!");
  // Refuses to load before anything is truncated. Redis truncates the file first, and then refuses to start.
  if (part.place != Place::kLast) return Fail("Fatal error: the truncated file is not the last file");
  services_.env.log.Warning("!!! Truncating the AOF " + part.name + " at offset " + number +
                            (is_corrupt ? StrCat(" (remaining ", part.bytes - offset, ")") : "") + " !!!");
  if (is_corrupt || (group_ && !group_->offsets.empty())) KeepEnd(part, offset);
  const IoError error = services_.storage.aof.TruncateFile(part.name, offset);
  if (error != kNoError) return Fail("Error truncating the AOF file " + part.name + ": " + IoErrorText(error));
  services_.env.log.Warning("AOF " + part.name + " loaded anyway because " +
                            (is_corrupt ? "aof-load-corrupt-tail-max-size" : "aof-load-truncated") + " is enabled");
  return Outcome::kCut;
}

}  // namespace respite
