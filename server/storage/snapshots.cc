#include "server/storage/snapshots.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "persistence/rdb_file_writer.h"
#include "server/config/usage.h"
#include "server/latency_watch.h"
#include "server/server.h"
#include "server/startup/small_files.h"
#include "server/storage/debug_delay.h"

namespace respite {

namespace {

constexpr int64_t kTryAgainAfterMs = 5000;  // Redis: CONFIG_BGSAVE_RETRY_DELAY
constexpr Bytes kTemporaryPrefix = "temp-";
constexpr Bytes kTemporarySuffix = ".rdb";

std::string TemporaryName(pid_t pid) {
  return std::string(kTemporaryPrefix) + std::to_string(pid) + std::string(kTemporarySuffix);
}

// Whose temporary file this is; 0: it is none.
pid_t OwnerOf(Bytes name) {
  if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) return 0;
  name.remove_prefix(kTemporaryPrefix.size());
  name.remove_suffix(std::min(kTemporarySuffix.size(), name.size()));
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() && pid > 0 ? pid : 0;
}

// A zombie does not: whoever should take note of its end may never do so.
bool Lives(pid_t pid) {
  if (pid == getpid()) return false;  // it was another's: this process has written nothing yet
  if (kill(pid, 0) != 0) return errno != ESRCH;
  const std::string line = FirstLineOf(("/proc/" + std::to_string(pid) + "/stat").c_str()).value_or("");
  const size_t state = line.rfind(") ");  // behind the name, which may have anything in it
  return state == std::string::npos || line.substr(state + 2, 1) != "Z";
}

std::string WorkingDirectory() {
  char* path = getcwd(nullptr, 0);
  std::string text = path == nullptr ? "unknown" : path;
  std::free(path);
  return text;
}

RdbUsage UsageFor(const Server& server) {
  const EvictionPolicy policy = server.settings().maxmemory_policy;
  if (server.access().IsLfu()) return RdbUsage::kFrequency;
  const bool lru = policy == EvictionPolicy::kAllKeysLru || policy == EvictionPolicy::kVolatileLru;
  return lru ? RdbUsage::kIdleSeconds : RdbUsage::kNone;
}

}  // namespace

RdbSource RdbSourceOf(Server& server, RdbPurpose purpose) {
  RdbSource source{server.keyspace(), {}, {}};
  for (const auto& [name, library] : server.function_libraries().All()) source.libraries.push_back(library->code);
  source.aux = {{"redis-ver", std::string(kRedisVersion)},
                {"redis-bits", "64"},
                {"ctime", std::to_string(server.clock().WallMs() / 1000)},
                {"used-mem", std::to_string(server.UsedMemory())},
                {"aof-base", purpose == RdbPurpose::kAofBase ? "1" : "0"}};
  return source;
}

RdbSaveOptions RdbOptionsOf(const Server& server) {
  const Settings& settings = server.settings();
  RdbSaveOptions options;
  options.compression = settings.rdbcompression ? RdbCompression::kOn : RdbCompression::kOff;
  options.checksum = settings.rdbchecksum ? RdbSaveOptions::Checksum::kCrc64 : RdbSaveOptions::Checksum::kZero;
  options.sync =
      settings.rdb_save_incremental_fsync ? RdbSaveOptions::Sync::kIncremental : RdbSaveOptions::Sync::kAtEnd;
  options.usage = UsageFor(server);
  options.usage_of = [&access = server.access(), usage = options.usage,
                      now_ms = server.clock().WallMs()](uint32_t bits) -> uint64_t {
    if (usage == RdbUsage::kFrequency) return access.Frequency(bits, now_ms);
    return static_cast<uint64_t>(Access::IdleSeconds(bits, now_ms));
  };
  if (settings.rdb_key_save_delay != 0) options.keys_per_report = 1;
  return options;
}

std::function<void(uint64_t)> RdbProgress(const Server& server, ChildReporter* reporter) {
  return [&settings = server.settings(), reporter, calls = 0u](uint64_t keys) mutable {
    if (reporter != nullptr) reporter->Tell(keys);
    DebugDelay(settings.rdb_key_save_delay, calls);
  };
}

Snapshots::Snapshots(Server& server)
    : server_(server), last_save_wall_s_(server.clock().WallMs() / 1000), last_save_ms_(server.clock().MonotonicMs()) {}

bool Snapshots::Running() const { return server_.nursery().Does(ChildWork::kSnapshot); }

Snapshots::Outcome Snapshots::Save() {
  ++saves_;
  const uint64_t changes = server_.keyspace_stats().dirty;
  const std::string path = server_.settings().dbfilename;
  if (!Lock(path) || !Write(path, nullptr)) return Outcome::kFailed;
  Saved(changes);
  return Outcome::kDone;
}

Snapshots::Outcome Snapshots::StartBackground() {
  ++saves_;
  last_try_ms_ = started_ms_ = server_.clock().MonotonicMs();
  changes_before_ = server_.keyspace_stats().dirty;
  const std::string path = server_.settings().dbfilename;
  if (!Lock(path)) {
    last_outcome_ = Outcome::kFailed;
    return Outcome::kFailed;
  }
  const auto pid = server_.nursery().Start(
      ChildWork::kSnapshot, [this, path](ChildReporter& reporter) { return Write(path, &reporter); },
      [this](const ChildEnd& end) { Ended(end); });
  if (!pid) {
    last_outcome_ = Outcome::kFailed;
    server_.log().Warning("Can't save in background: fork: " + IoErrorText(pid.error()));
    return Outcome::kFailed;
  }
  server_.log().Notice("Background saving started by pid " + std::to_string(pid.value()));
  return Outcome::kDone;
}

// In a child, too.
bool Snapshots::Write(const std::string& path, ChildReporter* reporter) {
  FileSystem& files = server_.files();
  const std::string temporary = TemporaryName(getpid());
  if (!WriteTemporary(temporary, reporter)) return false;
  IoError error = files.Rename(temporary, path);
  if (error != kNoError) {
    server_.log().Warning("Error moving temp DB file " + temporary + " on the final destination " + path +
                          " (in server root dir " + WorkingDirectory() + "): " + IoErrorText(error));
    files.Remove(temporary);
    return false;
  }
  error = files.SyncDirectory(DirectoryOf(path));
  if (error != kNoError) {
    server_.log().Warning("Failed to fsync directory while saving DB: " + IoErrorText(error));
    return false;
  }
  server_.log().Notice("DB saved on disk");
  return true;
}

bool Snapshots::WriteTemporary(const std::string& temporary, ChildReporter* reporter) {
  FileSystem& files = server_.files();
  IoError error = kNoError;
  {
    auto file = files.Open(temporary, FileSystem::Mode::kCreate);
    if (!file) {
      server_.log().Warning("Failed opening the temp RDB file " + temporary + " (in server root dir " +
                            WorkingDirectory() + ") for saving: " + IoErrorText(file.error()));
      return false;
    }
    const auto saved = WriteRdb(*file.value(), RdbSourceOf(server_, RdbPurpose::kSnapshot), RdbOptionsOf(server_),
                                RdbProgress(server_, reporter));
    error = saved ? file.value()->Sync() : saved.error();
  }
  if (error == kNoError) return true;
  server_.log().Warning("Write error while saving DB to the disk: " + IoErrorText(error));
  files.Remove(temporary);
  return false;
}

// Anew each time: the file may have been replaced, and the directive changed. Without a dump there is nothing to lock.
bool Snapshots::Lock(const std::string& path) {
  lock_.reset();
  auto lock = server_.files().Lock(path);
  if (lock) lock_ = std::move(lock.value());
  if (lock || lock.error() != EWOULDBLOCK) return true;
  server_.log().Warning("The RDB file " + path + " in " + WorkingDirectory() +
                        " belongs to another server that runs. It is not overwritten.");
  return false;
}

void Snapshots::Saved(uint64_t changes) {
  uint64_t& dirty = server_.keyspace_stats().dirty;
  dirty -= std::min(dirty, changes);
  last_save_wall_s_ = server_.clock().WallMs() / 1000;
  last_save_ms_ = server_.clock().MonotonicMs();
  last_outcome_ = Outcome::kDone;
  Lock(server_.settings().dbfilename);  // it is another file now
}

void Snapshots::Ended(const ChildEnd& end) {
  Logger& log = server_.log();
  last_duration_s_ = (server_.clock().MonotonicMs() - started_ms_) / 1000;
  if (end.outcome == ChildOutcome::kSucceeded) {
    log.Notice("Background saving terminated with success");
    last_cow_bytes_ = end.last.cow_peak_bytes;
    return Saved(changes_before_);
  }
  if (end.signal == 0) {
    log.Warning("Background saving error");
  } else {
    log.Warning("Background saving terminated by signal " + std::to_string(end.signal));
    LatencyWatch watch(server_, "rdb-unlink-temp-file");
    server_.files().Remove(TemporaryName(end.pid));
  }
  if (end.outcome == ChildOutcome::kFailed) last_outcome_ = Outcome::kFailed;
}

void Snapshots::Flushed() {
  if (server_.loading().Active()) return;  // it stands in the append-only file, and is no news
  if (Running()) server_.nursery().Kill();
  save_due_ = !server_.settings().save.empty();
}

void Snapshots::SaveFlushed() {
  save_due_ = false;
  if (!Running()) Save();
}

bool Snapshots::StopsWrites() const {
  const Settings& settings = server_.settings();
  return last_outcome_ == Outcome::kFailed && settings.stop_writes_on_bgsave_error && !settings.save.empty();
}

bool Snapshots::MayTryAgain() const {
  if (last_outcome_ == Outcome::kDone || !last_try_ms_) return true;
  return server_.clock().MonotonicMs() - *last_try_ms_ > kTryAgainAfterMs;
}

void Snapshots::Cron() {
  if (server_.nursery().Busy() || !MayTryAgain()) return;
  if (!scheduled_) return SaveIfDue();
  if (StartBackground() == Outcome::kDone) scheduled_ = false;
}

void Snapshots::SaveIfDue() {
  const uint64_t changes = server_.keyspace_stats().dirty;
  const int64_t elapsed_ms = server_.clock().MonotonicMs() - last_save_ms_;
  for (const SavePoint& point : server_.settings().save) {
    // Redis: whole seconds, and more of them than the point says; here the first moment past them.
    if (changes < static_cast<uint64_t>(point.changes) || elapsed_ms <= point.seconds * 1000) continue;
    server_.log().Notice(std::to_string(point.changes) + " changes in " + std::to_string(point.seconds) +
                         " seconds. Saving...");
    StartBackground();
    return;
  }
}

std::optional<std::string> Snapshots::Claim() {
  const Settings& settings = server_.settings();
  if (!settings.save.empty() && !Lock(settings.dbfilename)) {
    return "Another server already saves to " + settings.dbfilename + " in " + WorkingDirectory() +
           ": give this one another dir or dbfilename, or no save points.";
  }
  RemoveLeftovers();
  return std::nullopt;
}

void Snapshots::RemoveLeftovers() {
  FileSystem& files = server_.files();
  const auto names = files.List(".");
  if (!names) return;
  for (const std::string& name : names.value()) {
    const pid_t owner = OwnerOf(name);
    if (owner == 0) continue;
    if (Lives(owner) || files.Remove(name) != kNoError) continue;
    server_.log().Notice("Removed " + name + ", an RDB file that was not finished");
  }
}

Snapshots::Figures Snapshots::Survey() const {
  const int64_t running_s = (server_.clock().MonotonicMs() - started_ms_) / 1000;
  return {last_save_wall_s_, last_outcome_, last_duration_s_, Running() ? running_s : -1, saves_, last_cow_bytes_};
}

}  // namespace respite
