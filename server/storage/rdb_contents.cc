#include "server/storage/rdb_contents.h"

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "datatypes/keyspace.h"
#include "protocol/redis_version.h"
#include "scripting/function_library.h"
#include "server/config/settings.h"
#include "server/dataset/history.h"
#include "server/dataset/key_usage.h"
#include "server/dataset/memory_gauge.h"
#include "server/storage/debug_delay.h"
#include "server/storage/hidden_slots_text.h"

namespace respite {

namespace {

RdbUsage UsageFor(const Settings& settings, const KeyUsage& access) {
  const EvictionPolicy policy = settings.maxmemory_policy;
  if (access.IsLfu()) return RdbUsage::kFrequency;
  const bool lru = policy == EvictionPolicy::kAllKeysLru || policy == EvictionPolicy::kVolatileLru;
  return lru ? RdbUsage::kIdleSeconds : RdbUsage::kNone;
}

}  // namespace

RdbContent RdbContents::ContentFor(RdbPurpose purpose) const {
  RdbContent content{parts_.keyspace, {}, {}};
  if (purpose == RdbPurpose::kFunctions) content.keys = RdbContent::Keys::kNone;
  for (const auto& [name, library] : parts_.function_libraries.All()) content.libraries.push_back(library->code);
  content.aux = {{"redis-ver", std::string(kRedisVersion)},
                 {"redis-bits", "64"},
                 {"ctime", std::to_string(parts_.env.clock.WallMs() / 1000)},
                 {"used-mem", std::to_string(parts_.memory.UsedBytes())}};
  // Stores the replication ID and offset if other servers may have this history (is_shared), or if the offset is not 0,
  // because they may have had an earlier one. Otherwise a replica with a larger offset could win an election after this
  // server restarts. In the base of an append-only file, the offset of a history that is not shared is stored as at
  // least History::least_offset, because the history must begin there when it is shared after a restart. While the
  // history is not shared, the offset does not count writes. So each such file gets an ID of its own: otherwise files
  // with different data would have the same ID and offset, and a replica could continue from a wrong one.
  const bool begins_later = purpose == RdbPurpose::kAofBase && !parts_.history.is_shared;
  const int64_t least = begins_later ? parts_.history.least_offset : 0;
  const int64_t offset = std::max(parts_.history.offset, least);
  if ((parts_.history.is_shared || offset != 0) && parts_.history.IsKnown()) {
    content.aux.emplace_back("repl-stream-db", std::to_string(parts_.history.stream_db));
    content.aux.emplace_back("repl-id", parts_.history.is_shared ? parts_.history.id : RandomHex(History::kIdLength));
    content.aux.emplace_back("repl-offset", std::to_string(offset));
    const auto& primary = parts_.env.settings.replicaof;
    if (primary && parts_.history.IsWhole() && parts_.history.IsConfirmed())
      content.aux.emplace_back(kReplPrimaryAux, primary->Text());
    if (parts_.history.has_local_writes) content.aux.emplace_back(kLocalWritesAux, "1");
  }
  if (!parts_.keyspace.hidden().IsEmpty())
    content.aux.emplace_back(rdb::kHiddenSlotsAux, HiddenSlotsText(parts_.keyspace.hidden()));
  content.aux.emplace_back("aof-base", purpose == RdbPurpose::kAofBase ? "1" : "0");
  return content;
}

bool RdbContents::IsWorthSaving() const { return parts_.history.data != History::Data::kNone; }

RdbSaveOptions RdbContents::Options() const {
  const Settings& settings = parts_.env.settings;
  RdbSaveOptions options;
  options.compression = settings.rdbcompression ? RdbCompression::kOn : RdbCompression::kOff;
  options.checksum = settings.rdbchecksum ? RdbSaveOptions::Checksum::kCrc64 : RdbSaveOptions::Checksum::kZero;
  options.sync =
      settings.rdb_save_incremental_fsync ? RdbSaveOptions::Sync::kIncremental : RdbSaveOptions::Sync::kAtEnd;
  options.usage = UsageFor(settings, parts_.usage);
  options.usage_from_access = [&access = parts_.usage, usage = options.usage,
                               now_ms = parts_.env.clock.WallMs()](uint32_t bits) -> uint64_t {
    if (usage == RdbUsage::kFrequency) return access.Frequency(bits, now_ms);
    return static_cast<uint64_t>(KeyUsage::IdleSeconds(bits, now_ms));
  };
  if (settings.rdb_key_save_delay != 0) options.keys_per_report = 1;
  return options;
}

std::function<void(uint64_t)> RdbContents::ProgressCallback(ChildReporter* reporter) const {
  return [&settings = parts_.env.settings, reporter, calls = 0u](uint64_t keys) mutable {
    if (reporter != nullptr) reporter->Tell(keys);
    DebugDelay(settings.rdb_key_save_delay, calls);
  };
}

}  // namespace respite
