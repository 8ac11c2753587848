#include "server/storage/keyspace_sink.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "scripting/function_library.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/unit.h"
#include "server/storage/hidden_slots_text.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_contents.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

// The time limit for loading all function libraries of an RDB that a primary sends. Each library has its own limit, but
// the RDB could contain any number of libraries.
constexpr int64_t kAllLibrariesMs = 10'000;

constexpr uint64_t kEmptyKeysLogged = 10;

int64_t Number(Bytes text) { return std::strtoll(std::string(text).c_str(), nullptr, 10); }

}  // namespace

KeyspaceSink::KeyspaceSink(const Services& services, LoadTarget target, const RdbLoadOptions& options)
    : services_(services),
      target_(target),
      options_(options),
      now_ms_(services.env.clock.WallMs()),
      function_load_ms_at_start_(target.libraries.TotalLoadTimeMs()) {}

bool KeyspaceSink::IsExpired(const Entry& entry) const {
  return options_.expired == RdbLoadOptions::Expired::kDrop && entry.IsExpired(now_ms_);
}

void KeyspaceSink::OnEmptyCollection(int /*db*/, Bytes key) {
  if (empty_keys_++ < kEmptyKeysLogged)
    services_.env.log.Notice("rdbLoadObject skipping empty key: " + std::string(key));
}

void KeyspaceSink::OnMissingChecksum() {
  services_.env.log.Notice("RDB file was saved with checksum disabled: no check performed.");
}

Result<Done> KeyspaceSink::OnProgress(uint64_t offset) {
  progress_offset_ = offset;
  if (services_.storage.loading.Advance(options_.loaded_before + offset) == Loading::Order::kContinue) return Done{};
  stopped_ = true;
  return Failure("the server is stopped");
}

void KeyspaceSink::OnAux(Bytes name, Bytes value, uint64_t /*offset*/) {
  Logger& log = services_.env.log;
  if (name.starts_with('%')) {
    log.Notice("RDB '" + std::string(name) + "': " + std::string(value));
  } else if (EqualsIgnoreCase(name, "redis-ver")) {
    log.Notice("Loading RDB produced by version " + std::string(value));
  } else if (EqualsIgnoreCase(name, "ctime")) {
    log.Notice(StrCat("RDB age ", std::max<int64_t>(now_ms_ / 1000 - Number(value), 0), " seconds"));
  } else if (EqualsIgnoreCase(name, "used-mem")) {
    const auto bytes = static_cast<uint64_t>(std::max<int64_t>(Number(value), 0));
    log.Notice("RDB memory usage when created " + FixedText(static_cast<double>(bytes) / (1 << 20), 2) + " Mb");
    services_.storage.loading.SetRdbUsedMemory(bytes);
  } else if (EqualsIgnoreCase(name, "aof-preamble")) {
    if (Number(value) != 0) log.Notice("RDB has an AOF tail");
  } else if (EqualsIgnoreCase(name, "aof-base")) {
    if (Number(value) != 0) log.Notice("RDB is base AOF");
  } else if (EqualsIgnoreCase(name, "repl-id")) {
    services_.storage.loading.file_history().id = value;
  } else if (EqualsIgnoreCase(name, "repl-offset")) {
    services_.storage.loading.file_history().offset = Number(value);
  } else if (name == kReplPrimaryAux) {
    services_.storage.loading.file_history().primary = value;
  } else if (EqualsIgnoreCase(name, "repl-stream-db")) {
    services_.storage.loading.file_history().stream_db = static_cast<int>(Number(value));
  } else if (name == kLocalWritesAux) {
    services_.storage.loading.file_history().has_local_writes = Number(value) != 0;
  } else if (name == rdb::kHiddenSlotsAux && target_.keyspace.index() == Keyspace::Index::kBySlot) {
    ReadHiddenSlots(value, target_.keyspace.hidden());
  } else if (name == rdb::kRedisTaskAux && target_.keyspace.index() == Keyspace::Index::kBySlot) {
    const auto task = ReadRedisTask(value);
    if (task && task->is_import && !task->is_over) target_.keyspace.hidden().Hide(task->name, task->slots);
  } else if (log.IsLevelEnabled(LogLevel::kDebug)) {
    constexpr std::array<Bytes, 2> kSilent = {"lua", "redis-bits"};
    const bool known =
        std::any_of(kSilent.begin(), kSilent.end(), [&](Bytes one) { return EqualsIgnoreCase(one, name); });
    if (!known) log.Debug("Unrecognized RDB AUX field: '" + std::string(name) + "'");
  }
}

// Stores the keys. A first pass prefetches the hash table buckets that the second pass needs.
Result<Done> KeyspaceSink::OnEntries(int db, std::span<RdbEntry> entries) {
  Database& data = target_.keyspace[db];
  for (const RdbEntry& loaded : entries) data.PrefetchBucket(data.Hash(loaded.entry->Key()));
  for (RdbEntry& loaded : entries) {
    if (IsExpired(*loaded.entry)) {
      services_.storage.loading.CountKeys(0, 1);
      services_.storage.loading.NoteSkippedExpiredKey(db, loaded.entry->Key());
      loaded.entry.reset();
    } else {
      SetUsage(loaded);
      const std::string_view key = loaded.entry->Key();
      if (options_.duplicates == RdbLoadOptions::Duplicates::kRefuse && data.Find(key) != nullptr) {
        services_.env.log.Warning(StrCat("RDB has duplicated key '", key, "' in DB ", db));
        return Failure("Duplicated key found in RDB file");
      }
      Insert(data, std::move(loaded.entry));
      services_.storage.loading.CountKeys(1, 0);
    }
    services_.storage.loading.SlowDown();
  }
  return Done{};
}

void KeyspaceSink::Insert(Database& data, EntryPtr entry) const {
  if (options_.duplicates == RdbLoadOptions::Duplicates::kReplace) {
    if (Entry* old = data.Find(entry->Key())) data.Take(old);
  }
  data.Add(std::move(entry));
}

void KeyspaceSink::SetUsage(RdbEntry& loaded) const {
  if (services_.data.dataset.usage.IsLfu()) {
    if (loaded.frequency) loaded.entry->SetAccess(KeyUsage::BitsForFrequency(*loaded.frequency, now_ms_));
  } else if (loaded.idle_s) {
    loaded.entry->SetAccess(KeyUsage::BitsForIdleTime(static_cast<int64_t>(*loaded.idle_s), now_ms_));
  }
}

Result<Done> KeyspaceSink::OnLibrary(Bytes code) {
  const auto existing = options_.duplicates == RdbLoadOptions::Duplicates::kReplace
                            ? FunctionLibraries::OnExisting::kReplace
                            : FunctionLibraries::OnExisting::kRefuse;
  const int64_t loaded_for_ms = target_.libraries.TotalLoadTimeMs() - function_load_ms_at_start_;
  if (options_.origin == RdbLoadOptions::Origin::kPrimary && loaded_for_ms > kAllLibrariesMs) {
    services_.env.log.Warning("Failed loading library: the libraries before it took too long together");
    return Failure("the function libraries take too long");
  }
  auto loaded = target_.libraries.Load(code, existing, FunctionLibraries::Origin::kAccepted);
  if (loaded) return OnProgress(progress_offset_);  // each library may take long
  services_.env.log.Warning("Failed loading library, " + loaded.error());
  return Failure(loaded.error());
}

void KeyspaceSink::LogFailure(const RdbFailure& failure, const std::string& place) const {
  Logger& log = services_.env.log;
  switch (failure.kind) {
    case RdbFailure::Kind::kSignature:
    case RdbFailure::Kind::kVersion:
    case RdbFailure::Kind::kDatabases:
    case RdbFailure::Kind::kModule:
      return log.Warning(failure.text);
    case RdbFailure::Kind::kChecksum:
      log.Warning(failure.text);
      break;
    case RdbFailure::Kind::kTruncated:
      log.Warning("Short read or OOM loading DB. Unrecoverable error, aborting now.");
      break;
    default:
      break;
  }
  log.Warning(StrCat("Internal error in RDB reading offset ", failure.offset, " of ", place, " -> ",
                     failure.kind == RdbFailure::Kind::kChecksum ? "RDB CRC error" : failure.text));
  if (failure.kind == RdbFailure::Kind::kCorrupt && failure.key)
    log.Warning("The value of key " + Quoted(*failure.key) + " cannot be read: " + failure.text);
}

void KeyspaceSink::LogLoaded() const {
  const Loading& loading = services_.storage.loading;
  std::string line =
      StrCat("Done loading RDB, keys loaded: ", loading.KeysLoaded(), ", keys expired: ", loading.KeysExpired());
  if (empty_keys_ != 0) StrAppend(line, ", empty keys skipped: ", empty_keys_);
  services_.env.log.Notice(line + ".");
}

RdbReadOptions MakeRdbReadOptions(const Services& services) {
  const Settings& settings = services.env.settings;
  RdbReadOptions options{.limits = services.data.dataset.limits};
  options.hash_key = services.data.dataset.keyspace[0].hash_key();
  options.access = services.data.dataset.usage.BitsForNewKey(services.env.clock.WallMs());
  options.databases = services.data.dataset.keyspace.Count();
  const bool verify = settings.rdbchecksum && !services.env.debug.skip_payload_checksum;
  options.checksum = verify ? RdbReadOptions::Checksum::kVerify : RdbReadOptions::Checksum::kIgnore;
  const bool is_any = settings.rdb_version_check == RdbVersionCheck::kRelaxed;
  options.versions = is_any ? RdbReadOptions::Versions::kAll : RdbReadOptions::Versions::kKnown;
  options.progress_interval_bytes = static_cast<uint64_t>(settings.loading_process_events_interval_bytes);
  return options;
}

}  // namespace respite
