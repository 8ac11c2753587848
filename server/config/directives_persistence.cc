// Directives of persistence: RDB and AOF.
#include <array>

#include "server/config/directive_rows.h"
#include "server/config/special_directives.h"

namespace respite::rows {
namespace {

constexpr ChoiceName kRdbVersionCheckNames[] = {
    Named("strict", RdbVersionCheck::kStrict),
    Named("relaxed", RdbVersionCheck::kRelaxed),
};
constexpr ChoiceName kAppendFsyncNames[] = {
    Named("everysec", AppendFsync::kEverySecond),
    Named("always", AppendFsync::kAlways),
    Named("no", AppendFsync::kNever),
};
constexpr ChoiceName kSanitizeDumpPayloadNames[] = {
    Named("no", SanitizeDumpPayload::kNever),
    Named("yes", SanitizeDumpPayload::kAlways),
    Named("clients", SanitizeDumpPayload::kClients),
};

bool IsBareName(Bytes name) { return name.find_first_of("/\\") == Bytes::npos; }

Objection CheckDbFilename(Bytes name) {
  return IsBareName(name) ? Objection{} : "dbfilename can't be a path, just a filename";
}

Objection CheckAppendFilename(Bytes name) {
  if (name.empty()) return "appendfilename can't be empty";
  return IsBareName(name) ? Objection{} : "appendfilename can't be a path, just a filename";
}

Objection CheckAppendDirname(Bytes name) {
  if (name.empty()) return "appenddirname can't be empty";
  return IsBareName(name) ? Objection{} : "appenddirname can't be a path, just a dirname";
}

Objection CheckBackupDirname(Bytes name) {
  if (name.empty()) return "backupdirname can't be empty";
  return IsBareName(name) && name != "." && name != ".." ? Objection{}
                                                         : "backupdirname can't be a path, just a dirname";
}

Objection AssignPreloadFile(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (words.size() != 1) return "wrong number of arguments";
  const std::string& target = words[0];
  const bool is_valid = (target.starts_with("aof:") || target.starts_with("rdb:")) && target.size() > 4;
  if (!is_valid && !target.empty()) return "preload-file must be aof:<path> or rdb:<path>";
  settings.preload_file = target;
  return {};
}

std::string PreloadFileText(const Settings& settings) { return settings.preload_file; }

// CONFIG REWRITE adds no line for a value that was set only on the command line, because each later start would load
// the old data again.
FileLines PreloadFileLines(std::string_view name, const Settings& settings) {
  return {{std::string(name) + " " + Quoted(settings.preload_file), LinePresence::kIfMentioned}};
}

constexpr SpecialShape kPreloadFile{AssignPreloadFile, PreloadFileText, PreloadFileLines};

constexpr Directive kPersistenceDirectives[] = {
    UnlistedSince(
        "7.2.0", Since("7.0.0", {"aof-disable-auto-gc", kEffective, YesNo<&Settings::aof_disable_auto_gc>(), kHidden})),
    Since("8.4.0", {"aof-load-corrupt-tail-max-size", kEffective,
                    Number<&Settings::aof_load_corrupt_tail_max_size>(0, kMaxLong), kHidden}),
    {"aof-load-failed-commands", kEffective, YesNo<&Settings::aof_load_failed_commands>(), kHidden},
    {"aof-load-truncated", kEffective, YesNo<&Settings::aof_load_truncated>()},
    {"aof-rewrite-incremental-fsync", kEffective, YesNo<&Settings::aof_rewrite_incremental_fsync>()},
    Since("7.0.0", {"aof-timestamp-enabled", kEffective, YesNo<&Settings::aof_timestamp_enabled>()}),
    {"aof-use-rdb-preamble", kEffective, YesNo<&Settings::aof_use_rdb_preamble>()},
    RenamedIn("7.4.0,valkey:8.0.0", {"aof-rewrite-cpulist", kEffective, OptionalText<&Settings::aof_rewrite_cpulist>(),
                                     kImmutable, "aof_rewrite_cpulist"}),
    Since("7.0.0", {"appenddirname", kEffective, Text<&Settings::appenddirname>(CheckAppendDirname), kImmutable}),
    {"appendfilename", kEffective, Text<&Settings::appendfilename>(CheckAppendFilename), kImmutable},
    {"appendfsync", kEffective, Choice<&Settings::appendfsync>(kAppendFsyncNames)},
    {"appendonly", kEffective, YesNo<&Settings::appendonly>(), kDenyLoading},
    {"auto-aof-rewrite-min-size", kEffective, Memory<&Settings::auto_aof_rewrite_min_size>(0, kMaxLong)},
    {"auto-aof-rewrite-percentage", kEffective, Number<&Settings::auto_aof_rewrite_percentage>(0, kMaxInt)},
    Since("8.10.0", {"backup-sealed-ttl", kEffective, Number<&Settings::backup_sealed_ttl>(0, kMaxInt), kHidden}),
    Since("8.10.0",
          {"backupdirname", kEffective, Text<&Settings::backupdirname>(CheckBackupDirname), kImmutable | kHidden}),
    RenamedIn("7.4.0,valkey:8.0.0",
              {"bgsave-cpulist", kEffective, OptionalText<&Settings::bgsave_cpulist>(), kImmutable, "bgsave_cpulist"}),
    {"dbfilename", kEffective, Text<&Settings::dbfilename>(CheckDbFilename), kProtected},
    UnlistedSince("7.0.0",
                  {"key-load-delay", kEffective, Number<&Settings::key_load_delay>(kMinInt, kMaxInt), kHidden}),
    {"loading-process-events-interval-bytes", kEffective,
     Number<&Settings::loading_process_events_interval_bytes>(1024, kMaxInt), kHidden},
    {"no-appendfsync-on-rewrite", kEffective, YesNo<&Settings::no_appendfsync_on_rewrite>()},
    Since("8.10.0", {"preload-file", kEffective, kPreloadFile, kImmutable | kHidden}),
    {"rdb-del-sync-files", kEffective, YesNo<&Settings::rdb_del_sync_files>()},
    UnlistedSince("7.0.0",
                  {"rdb-key-save-delay", kEffective, Number<&Settings::rdb_key_save_delay>(kMinInt, kMaxInt), kHidden}),
    {"rdb-save-incremental-fsync", kEffective, YesNo<&Settings::rdb_save_incremental_fsync>()},
    Since("valkey:8.1.0",
          {"rdb-version-check", kEffective, Choice<&Settings::rdb_version_check>(kRdbVersionCheckNames), kHidden}),
    {"rdbchecksum", kEffective, YesNo<&Settings::rdbchecksum>(), kImmutable},
    {"rdbcompression", kEffective, YesNo<&Settings::rdbcompression>()},
    Until("valkey:9.1.0", {"sanitize-dump-payload", kEffective,
                           Choice<&Settings::sanitize_dump_payload>(kSanitizeDumpPayloadNames), kDebug}),
    {"save", kEffective, kSave, kMultiArgument | kVolatile},
    {"stop-writes-on-bgsave-error", kEffective, YesNo<&Settings::stop_writes_on_bgsave_error>()},
};

}  // namespace

std::span<const Directive> PersistenceDirectives() { return kPersistenceDirectives; }

}  // namespace respite::rows
