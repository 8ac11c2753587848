// Directives of the process: log, signals, protection, statistics.
#include <syslog.h>

#include <algorithm>
#include <array>

#include "base/duration_text.h"
#include "server/config/directive_rows.h"
#include "server/config/special_directives.h"

namespace respite::rows {
namespace {

constexpr ChoiceName kLogLevelNames[] = {
    Named("debug", LogLevel::kDebug),
    Named("verbose", LogLevel::kVerbose),
    Named("notice", LogLevel::kNotice),
    Named("warning", LogLevel::kWarning),
    Named("nothing", LogLevel::kNothing, "7.2.0"),
};
constexpr ChoiceName kLogFormatNames[] = {Named("legacy", LogFormat::kLegacy), Named("logfmt", LogFormat::kLogfmt),
                                          Named("json", LogFormat::kJson, "valkey:9.1.0")};
constexpr ChoiceName kLogTimeFormatNames[] = {
    Named("legacy", LogTimeFormat::kLegacy),
    Named("iso8601", LogTimeFormat::kIso8601),
    Named("milliseconds", LogTimeFormat::kMilliseconds),
};
constexpr ChoiceName kSupervisionNames[] = {
    Named("upstart", Supervision::kUpstart),
    Named("systemd", Supervision::kSystemd),
    Named("auto", Supervision::kAutoDetect),
    Named("no", Supervision::kNone),
};
constexpr ChoiceName kSyslogFacilityNames[] = {
    Named("user", LOG_USER),     Named("local0", LOG_LOCAL0), Named("local1", LOG_LOCAL1),
    Named("local2", LOG_LOCAL2), Named("local3", LOG_LOCAL3), Named("local4", LOG_LOCAL4),
    Named("local5", LOG_LOCAL5), Named("local6", LOG_LOCAL6), Named("local7", LOG_LOCAL7),
};
constexpr ChoiceName kOomScoreAdjustNames[] = {
    Named("no", OomScoreAdjust::kOff),
    Named("yes", OomScoreAdjust::kRelative),
    Named("relative", OomScoreAdjust::kRelative),
    Named("absolute", OomScoreAdjust::kAbsolute),
};
constexpr ChoiceName kAclPubsubDefaultNames[] = {
    Named("allchannels", AclPubsubDefault::kAllChannels),
    Named("resetchannels", AclPubsubDefault::kResetChannels),
};
constexpr ChoiceName kPermissionNames[] = {
    Named("no", Permission::kNever),
    Named("yes", Permission::kAlways),
    Named("local", Permission::kLocalConnections),
};
constexpr ChoiceName kPropagationErrorBehaviorNames[] = {
    Named("ignore", PropagationErrorBehavior::kIgnore),
    Named("panic", PropagationErrorBehavior::kPanic),
    Named("panic-on-replicas", PropagationErrorBehavior::kPanicOnReplicas),
};
constexpr ChoiceName kShutdownFlagNames[] = {
    Named("default", kShutdownDefault), Named("save", kShutdownSave),   Named("nosave", kShutdownNoSave),
    Named("now", kShutdownNow),         Named("force", kShutdownForce),
};

// Checks the value of shutdown-on-sigint or shutdown-on-sigterm, a set of kShutdown… bits. Refuses SAVE together with
// NOSAVE.
Objection CheckShutdownFlags(int flags) {
  const auto bits = static_cast<uint32_t>(flags);
  if ((bits & kShutdownSave) == 0 || (bits & kShutdownNoSave) == 0) return {};
  return "shutdown options SAVE and NOSAVE can't be used simultaneously";
}

bool IsTitleVariable(Bytes name) {
  constexpr std::array<Bytes, 7> kVariables = {"title", "listen-addr", "server-mode", "config-file",
                                               "port",  "tls-port",    "unixsocket"};
  return std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end();
}

// Checks the value of `proc-title-template`. Variables are in braces; "{{" is a literal brace.
Objection CheckProcTitleTemplate(Bytes text) {
  constexpr const char* kInvalid = "template format is invalid or contains unknown variables";
  bool says_something = false;
  while (!text.empty()) {
    if (text[0] != '{') {
      says_something = says_something || text[0] != ' ';
      text.remove_prefix(1);
      continue;
    }
    if (text.starts_with("{{")) {
      says_something = true;
      text.remove_prefix(2);
      continue;
    }
    size_t end = text.find('}');
    if (end == Bytes::npos) return kInvalid;
    Bytes variable = text.substr(1, end - 1);
    if (!IsTitleVariable(variable)) return kInvalid;
    says_something = says_something || (variable != "title" && variable != "server-mode");
    text.remove_prefix(end + 1);
  }
  return says_something ? Objection{} : kInvalid;
}

Objection CheckDuration(Bytes text) {
  return ParseDurationMs(text) ? Objection() : Objection("argument must be a duration such as 30s, 5m or 2h");
}

Objection CheckHashSeed(Bytes text) {
  constexpr size_t kMaxBytes = 256;
  return text.size() <= kMaxBytes ? Objection() : Objection("hash-seed must be less than or equal to 256 characters");
}

constexpr Directive kProcessDirectives[] = {
    {"acl-pubsub-default", kEffective, Choice<&Settings::acl_pubsub_default>(kAclPubsubDefaultNames)},
    {"aclfile", kEffective, Text<&Settings::aclfile>(), kImmutable},
    {"acllog-max-len", kEffective, Number<&Settings::acllog_max_len>(0, kMaxLong)},
    {"always-show-logo", kEffective, YesNo<&Settings::always_show_logo>(), kImmutable},
    RenamedIn("7.4.0,valkey:8.0.0",
              {"bio-cpulist", kEffective, OptionalText<&Settings::bio_cpulist>(), kImmutable, "bio_cpulist"}),
    RenamedIn("7.0.0", {"busy-reply-threshold", kEffective, Number<&Settings::busy_reply_threshold>(0, kMaxLong),
                        kNoFlags, "lua-time-limit"}),
    RenamedIn("valkey:8.1.0",
              {"commandlog-execution-slower-than", kEffective, Number<&Settings::slowlog_log_slower_than>(-1, kMaxLong),
               kNoFlags, "slowlog-log-slower-than"}),
    Since("valkey:8.1.0", {"commandlog-large-reply-max-len", kEffective,
                           Number<&Settings::commandlog_large_reply_max_len>(0, kMaxLong), kHidden}),
    Since("valkey:8.1.0", {"commandlog-large-request-max-len", kEffective,
                           Number<&Settings::commandlog_large_request_max_len>(0, kMaxLong), kHidden}),
    Since("valkey:8.1.0", {"commandlog-reply-larger-than", kEffective,
                           Number<&Settings::commandlog_reply_larger_than>(-1, kMaxLong), kHidden}),
    Since("valkey:8.1.0", {"commandlog-request-larger-than", kEffective,
                           Number<&Settings::commandlog_request_larger_than>(-1, kMaxLong), kHidden}),
    RenamedIn("valkey:8.1.0", {"commandlog-slow-execution-max-len", kEffective,
                               Number<&Settings::slowlog_max_len>(0, kMaxLong), kNoFlags, "slowlog-max-len"}),
    {"crash-log-enabled", kEffective, YesNo<&Settings::crash_log_enabled>()},
    {"crash-memcheck-enabled", kEffective, YesNo<&Settings::crash_memcheck_enabled>()},
    {"daemonize", kEffective, YesNo<&Settings::daemonize>(), kImmutable},
    Since("valkey:8.0.0", {"debug-context", kEffective, Text<&Settings::debug_context>(), kUnlisted | kDebug}),
    {"dir", kEffective, kDir, kProtected | kDenyLoading},
    {"disable-thp", kEffective, YesNo<&Settings::disable_thp>(), kImmutable},
    Until("valkey:8.1.0", {"dynamic-hz", kEffective, YesNo<&Settings::dynamic_hz>()}),
    {"emulate", kEffective, kEmulate, kImmutable | kHidden},
    Since("valkey:8.0.0",
          {"enable-debug-assert", kMeaningless, YesNo<&Settings::enable_debug_assert>(), kImmutable | kUnlisted}),
    Since("7.0.0",
          {"enable-debug-command", kEffective, Choice<&Settings::enable_debug_command>(kPermissionNames), kImmutable}),
    Since("7.0.0", {"enable-module-command", kEffective, Choice<&Settings::enable_module_command>(kPermissionNames),
                    kImmutable}),
    Since("7.0.0", {"enable-protected-configs", kEffective,
                    Choice<&Settings::enable_protected_configs>(kPermissionNames), kImmutable}),
    // Directives that only Respite has, such as `exit-on-idle`, are hidden from CONFIG GET *. Some test suites set
    // every directive that CONFIG GET * shows, and expect only Redis' directives to be immutable.
    {"exit-on-idle", kEffective, kExitOnIdle, kImmutable | kHidden},
    {"exit-with-parent", kEffective, YesNo<&Settings::exit_with_parent>(), kImmutable | kHidden},
    // `extended-redis-compatibility` has an effect only if a Valkey version is emulated.
    Since("valkey:8.0.0",
          {"extended-redis-compatibility", kEffective, YesNo<&Settings::extended_redis_compatibility>(), kHidden}),
    Since("7.4.0,valkey:8.0.0",
          {"hide-user-data-from-log", kEffective, YesNo<&Settings::hide_user_data_from_log>(), kHidden}),
    Since("valkey:9.1.0", {"hash-seed", kEffective, Text<&Settings::hash_seed>(CheckHashSeed), kImmutable | kHidden}),
    {"hz", kEffective, Number<&Settings::hz>(0, kMaxInt)},
    {"ignore-warnings", kMeaningless, Text<&Settings::ignore_warnings>()},
    {"latency-monitor-threshold", kEffective, Number<&Settings::latency_monitor_threshold>(0, kMaxLong)},
    Since("7.0.0", {"latency-tracking", kEffective, YesNo<&Settings::latency_tracking>()}),
    Since("7.0.0", {"latency-tracking-info-percentiles", kEffective, kLatencyTrackingInfoPercentiles,
                    kMultiArgument | kVolatile}),
    {"load", kEffective, kLoad, kImmutable | kHidden},
    Since("7.2.0", {"locale-collate", kEffective, Text<&Settings::locale_collate>()}),
    Since("valkey:8.1.0", {"log-format", kEffective, Choice<&Settings::log_format>(kLogFormatNames), kHidden}),
    Since("valkey:8.1.0",
          {"log-timestamp-format", kEffective, Choice<&Settings::log_timestamp_format>(kLogTimeFormatNames), kHidden}),
    {"logfile", kEffective, Text<&Settings::logfile>(), kImmutable},
    {"loglevel", kEffective, Choice<&Settings::loglevel>(kLogLevelNames)},
    UnlistedSince("7.0.0", Until("7.0.0", {"lua-replicate-commands", kMeaningless,
                                           YesNo<&Settings::lua_replicate_commands>(), kHidden})),
    {"oom-score-adj", kEffective, Choice<&Settings::oom_score_adj>(kOomScoreAdjustNames)},
    {"oom-score-adj-values", kEffective, kOomScoreAdjValues, kMultiArgument},
    {"pidfile", kEffective, OptionalText<&Settings::pidfile>(), kImmutable},
    {"proc-title-template", kEffective, Text<&Settings::proc_title_template>(CheckProcTitleTemplate)},
    Since("7.0.0", {"propagation-error-behavior", kEffective,
                    Choice<&Settings::propagation_error_behavior>(kPropagationErrorBehaviorNames)}),
    {"record", kEffective, OptionalText<&Settings::record>(), kImmutable | kHidden},
    {"ready-fd", kEffective, kReadyFd, kImmutable | kHidden},
    {"requirepass", kEffective, OptionalText<&Settings::requirepass>(), kSensitive},
    {"script-memory-limit", kEffective, Memory<&Settings::script_memory_limit>(16 * 1024 * 1024, kMaxLong / 8),
     kHidden},
    {"seed", kEffective, kSeed, kImmutable | kHidden},
    RenamedIn("7.4.0,valkey:8.0.0",
              {"server-cpulist", kEffective, OptionalText<&Settings::server_cpulist>(), kImmutable, "server_cpulist"}),
    {"set-proc-title", kEffective, YesNo<&Settings::set_proc_title>(), kImmutable},
    Since("7.0.0", {"shutdown-on-sigint", kEffective,
                    Choice<&Settings::shutdown_on_sigint>(kShutdownFlagNames, CheckShutdownFlags), kMultiArgument}),
    Since("7.0.0", {"shutdown-on-sigterm", kEffective,
                    Choice<&Settings::shutdown_on_sigterm>(kShutdownFlagNames, CheckShutdownFlags), kMultiArgument}),
    Since("7.0.0", {"shutdown-timeout", kEffective, Number<&Settings::shutdown_timeout>(0, kMaxInt)}),
    {"supervised", kEffective, Choice<&Settings::supervised>(kSupervisionNames), kImmutable},
    {"syslog-enabled", kEffective, YesNo<&Settings::syslog_enabled>(), kImmutable},
    {"syslog-facility", kEffective, Choice<&Settings::syslog_facility>(kSyslogFacilityNames), kImmutable},
    {"syslog-ident", kEffective, Text<&Settings::syslog_ident>(), kImmutable},
    {"test-commands", kEffective, Choice<&Settings::test_commands>(kPermissionNames), kImmutable | kHidden},
    {"test-maint-notifications", kEffective, YesNo<&Settings::test_maint_notifications>(), kHidden},
    {"test-world-idle", kEffective, Text<&Settings::test_world_idle>(CheckDuration), kHidden},
    UnlistedSince("7.0.0", {"use-exit-on-panic", kEffective, YesNo<&Settings::use_exit_on_panic>(), kHidden}),
    UnlistedSince("7.0.0", {"watchdog-period", kEffective, Number<&Settings::watchdog_period>(0, kMaxInt), kHidden}),
};

}  // namespace

std::span<const Directive> ProcessDirectives() { return kProcessDirectives; }

}  // namespace respite::rows
