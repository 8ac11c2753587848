#include "server/storage/aof_loader.h"

#include <array>

#include "base/number_text.h"
#include "server/server.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_loader.h"

namespace respite {

namespace {

constexpr Bytes kRdbSignature = "REDIS";

bool BeginsAsRdb(File& file) {
  std::array<char, kRdbSignature.size()> head;
  const IoProgress read = file.ReadAt(0, head);
  return Bytes(head.data(), read.octets) == kRdbSignature;
}

}  // namespace

bool AofLoader::IsOver(Outcome outcome) { return outcome == Outcome::kFailed || outcome == Outcome::kStopped; }

AofLoader::AofLoader(Server& server)
    : server_(server), prefetcher_(server), session_(server.clients().CreateDetached()) {}

AofLoader::~AofLoader() = default;

AofLoader::Outcome AofLoader::Fail(const std::string& text) {
  server_.log().Warning(text);
  return Outcome::kFailed;
}

LoadOutcome AofLoader::Load(const Session* holder) {
  const AofManifest& manifest = server_.aof().directory().manifest();
  const auto total = server_.aof().directory().TotalOctets();
  if (!total) return LoadOutcome::kFailed;
  const uint64_t dirty = server_.keyspace_stats().dirty;
  server_.loading().Begin(total.value(), holder);
  DataFloor& data = server_.data();
  Journal* const journal = std::exchange(data.journal, nullptr);
  ChangeListener* const listener = std::exchange(data.listener, nullptr);
  data.nothing_expires = true;
  Outcome outcome = Outcome::kLoaded;
  if (manifest.base()) {
    outcome = LoadPart(manifest.base()->name, "base", manifest.incrementals().empty() ? Place::kLast : Place::kMiddle);
    base_octets_ = octets_before_;
  }
  for (const AofManifest::Part& part : manifest.incrementals()) {
    if (IsOver(outcome)) break;
    outcome = LoadPart(part.name, "incr", &part == &manifest.incrementals().back() ? Place::kLast : Place::kMiddle);
  }
  data.nothing_expires = false;
  data.listener = listener;
  data.journal = journal;
  server_.loading().End();
  server_.keyspace_stats().dirty = dirty;
  if (outcome == Outcome::kStopped) return LoadOutcome::kStopped;
  return outcome == Outcome::kFailed ? LoadOutcome::kFailed : LoadOutcome::kLoaded;
}

AofLoader::Outcome AofLoader::LoadPart(const std::string& name, const char* kind, Place place) {
  auto file = server_.files().Open(server_.aof().directory().PathOf(name), FileSystem::Mode::kRead);
  const auto octets = file ? file.value()->Size() : Result<uint64_t, IoError>(Failure(file.error()));
  if (!octets) {
    return Fail("Fatal error: can't open the append log file " + name + " for reading: " + IoErrorText(octets.error()));
  }
  const int64_t started_us = server_.clock().MonotonicUs();
  const Outcome outcome = LoadFile({name, *file.value(), octets.value(), place}, kind == Bytes("base"));
  octets_before_ += octets.value();
  if (IsOver(outcome)) return outcome;
  const double elapsed_s = static_cast<double>(server_.clock().MonotonicUs() - started_us) / 1e6;
  server_.log().Notice("DB loaded from " + std::string(kind) + " file " + name + ": " + FixedText(elapsed_s, 3) +
                       " seconds");
  return outcome;
}

AofLoader::Outcome AofLoader::LoadFile(const Part& part, bool is_base) {
  uint64_t offset = 0;
  if (BeginsAsRdb(part.file)) {
    const RdbLoadEnd end = LoadPreamble(part, is_base);
    if (end.outcome == LoadOutcome::kStopped) return Outcome::kStopped;
    if (end.outcome != LoadOutcome::kLoaded) return Outcome::kFailed;
    offset = end.offset;
    if (offset < part.octets) server_.log().Notice("Reading the remaining AOF tail...");
  }
  return LoadRecords(part, offset);
}

RdbLoadEnd AofLoader::LoadPreamble(const Part& part, bool is_base) {
  server_.log().Notice(is_base ? "Reading RDB base file on AOF loading..." : "Reading RDB preamble from AOF file...");
  // Keys past their deadline stay: what follows was written while they were there.
  const RdbLoadEnd end = LoadRdb(server_, part.file, part.name, 0,
                                 {.expired = RdbLoadOptions::Expired::kKeep, .loaded_before = octets_before_});
  if (end.outcome == LoadOutcome::kFailed) {
    Fail("Error reading the RDB " + std::string(is_base ? "base file " : "preamble of the AOF file ") + part.name +
         ", AOF loading aborted");
  }
  return end;
}

AofLoader::Outcome AofLoader::LoadRecords(const Part& part, uint64_t offset) {
  AofReader reader(part.file, offset);
  RequestBatch batch;
  group_.reset();
  session_->db = 0;
  for (;;) {
    batch.Clear();
    const AofReader::Status status = reader.Next(batch);
    if (status != AofReader::Status::kRecords) return Finish(part, reader, status);
    if (!Run(part, batch)) return Outcome::kFailed;
    if (Report(octets_before_ + reader.Offset()) == Loading::Order::kStop) return Outcome::kStopped;
  }
}

Loading::Order AofLoader::Report(uint64_t octets) {
  if (octets < next_report_) return Loading::Order::kGoOn;
  next_report_ = octets + static_cast<uint64_t>(server_.settings().loading_process_events_interval_bytes);
  return server_.loading().Advance(octets);
}

bool AofLoader::Run(const Part& part, const RequestBatch& batch) {
  const auto& resolved = prefetcher_.Resolve(batch, session_->db);
  for (size_t i = 0; i < batch.requests.size(); ++i) {
    const auto words = batch.Words(batch.requests[i]);
    if (resolved[i].command == nullptr) {
      Fail("Unknown command '" + std::string(words[0]) + "' reading the append only file " + part.name);
      return false;
    }
    RunOne(*resolved[i].command, words, batch.requests[i].offset);
  }
  return true;
}

void AofLoader::RunOne(const Command& command, std::span<const Bytes> words, uint64_t offset) {
  server_.loading().SlowDown();
  if (command.full_name == "multi") {
    group_.emplace();
    group_->offset = offset;
    group_->commands.Begin();
  } else if (command.full_name == "exec") {
    RunGroup();
  } else if (group_) {
    group_->commands.Queue(command, words, 0);
  } else {
    Unit unit(server_.data(), server_.clock().WallMs());
    server_.executor().Replay(unit, *session_, command, words);
  }
}

void AofLoader::RunGroup() {
  if (!group_) return;
  Unit unit(server_.data(), server_.clock().WallMs());
  group_->commands.ForEach([&](const Command& command, std::span<const Bytes> words) {
    server_.executor().Replay(unit, *session_, command, words);
  });
  group_.reset();
}

AofLoader::Outcome AofLoader::Finish(const Part& part, const AofReader& reader, AofReader::Status status) {
  const std::string at = " (at octet " + std::to_string(reader.Offset()) + ")";
  switch (status) {
    case AofReader::Status::kReadError:
      return Fail("Unrecoverable error reading the append only file " + part.name + ": " + IoErrorText(reader.Error()));
    case AofReader::Status::kFormatError:
      return Fail("Bad file format reading the append only file " + part.name +
                  ": make a backup of your AOF file, then use ./redis-check-aof --fix <filename.manifest>" + at);
    case AofReader::Status::kEnd:
      if (!group_) return Outcome::kLoaded;
      server_.log().Warning("Revert incomplete MULTI/EXEC transaction in AOF file " + part.name);
      return Cut(part, group_->offset);
    default:
      return Cut(part, group_ ? group_->offset : reader.Offset());
  }
}

AofLoader::Outcome AofLoader::Cut(const Part& part, uint64_t offset) {
  const std::string number = std::to_string(offset);
  if (!server_.settings().aof_load_truncated) {
    return Fail("Unexpected end of file reading the append only file " + part.name + " (behind octet " + number +
                "). You can: 1) Make a backup of your AOF file, then use ./redis-check-aof --fix <filename.manifest>. "
                "2) Alternatively you can set the 'aof-load-truncated' configuration option to yes and restart the "
                "server.");
  }
  server_.log().Warning("!!! Warning: short read while loading the AOF file " + part.name + "!!!");
  // Redis: cuts it all the same, and then refuses to start.
  if (part.place != Place::kLast) return Fail("Fatal error: the truncated file is not the last file");
  server_.log().Warning("!!! Truncating the AOF " + part.name + " at offset " + number + " !!!");
  const IoError error = server_.aof().CutLast(part.name, offset);
  if (error != kNoError) return Fail("Error truncating the AOF file " + part.name + ": " + IoErrorText(error));
  server_.log().Warning("AOF " + part.name + " loaded anyway because aof-load-truncated is enabled");
  return Outcome::kCut;
}

}  // namespace respite
