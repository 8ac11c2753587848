// Directives whose values have a special syntax, which the comment of each directive describes.
#pragma once

#include <string>
#include <string_view>

#include "server/config/directive.h"

namespace respite::rows {

// `port`: a number, or `auto` for any free port.
Objection AssignPort(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string PortText(const Settings& settings);                      // as CONFIG GET shows it
FileForm PortForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kPort{AssignPort, PortText, PortForm};

// `bind`: addresses, separated by spaces; an empty list disables TCP.
Objection AssignBind(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string BindText(const Settings& settings);                      // as CONFIG GET shows it
FileForm BindForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kBind{AssignBind, BindText, BindForm};

// `dir`: a path. The server changes to this directory immediately.
Objection AssignDir(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string DirText(const Settings& settings);                      // as CONFIG GET shows it
FileForm DirForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kDir{AssignDir, DirText, DirForm};

// `save`: pairs of seconds and changes.
Objection AssignSave(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string SaveText(const Settings& settings);                      // as CONFIG GET shows it
FileForm SaveForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kSave{AssignSave, SaveText, SaveForm};

// `client-output-buffer-limit`: for each client class, its name, hard limit, soft limit and soft seconds.
Objection AssignClientOutputBufferLimit(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ClientOutputBufferLimitText(const Settings& settings);                      // as CONFIG GET shows it
FileForm ClientOutputBufferLimitForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kClientOutputBufferLimit{AssignClientOutputBufferLimit, ClientOutputBufferLimitText,
                                                       ClientOutputBufferLimitForm};

// `oom-score-adj-values`: three numbers, for a primary, a replica and a child process.
Objection AssignOomScoreAdjValues(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string OomScoreAdjValuesText(const Settings& settings);                      // as CONFIG GET shows it
FileForm OomScoreAdjValuesForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kOomScoreAdjValues{AssignOomScoreAdjValues, OomScoreAdjValuesText, OomScoreAdjValuesForm};

// `notify-keyspace-events`: letters for classes of events.
Objection AssignNotifyKeyspaceEvents(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string NotifyKeyspaceEventsText(const Settings& settings);                      // as CONFIG GET shows it
FileForm NotifyKeyspaceEventsForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kNotifyKeyspaceEvents{AssignNotifyKeyspaceEvents, NotifyKeyspaceEventsText,
                                                    NotifyKeyspaceEventsForm};

// `replicaof`: host and port, or `no one`.
Objection AssignReplicaof(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ReplicaofText(const Settings& settings);                      // as CONFIG GET shows it
FileForm ReplicaofForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kReplicaof{AssignReplicaof, ReplicaofText, ReplicaofForm};

// `latency-tracking-info-percentiles`: percentiles from 0 to 100, separated by spaces.
Objection AssignLatencyTrackingInfoPercentiles(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string LatencyTrackingInfoPercentilesText(const Settings& settings);                      // as CONFIG GET shows it
FileForm LatencyTrackingInfoPercentilesForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kLatencyTrackingInfoPercentiles{
    AssignLatencyTrackingInfoPercentiles, LatencyTrackingInfoPercentilesText, LatencyTrackingInfoPercentilesForm};

// `exit-on-idle`: a duration, for example `30s`.
Objection AssignExitOnIdle(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ExitOnIdleText(const Settings& settings);                      // as CONFIG GET shows it
FileForm ExitOnIdleForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kExitOnIdle{AssignExitOnIdle, ExitOnIdleText, ExitOnIdleForm};

// `emulate`: a version of Redis or Valkey, as in EmulatedByName; an empty text means none.
Objection AssignEmulate(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string EmulateText(const Settings& settings);                      // as CONFIG GET shows it
FileForm EmulateForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kEmulate{AssignEmulate, EmulateText, EmulateForm};

// `load`: a file to load at startup. Each line adds one file, and an empty text removes all.
Objection AssignLoad(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string LoadText(const Settings& settings);                      // as CONFIG GET shows it
FileForm LoadForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kLoad{AssignLoad, LoadText, LoadForm};

// `ready-fd`: the file descriptor to which readiness is reported; 0 means none.
Objection AssignReadyFd(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ReadyFdText(const Settings& settings);                      // as CONFIG GET shows it
FileForm ReadyFdForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kReadyFd{AssignReadyFd, ReadyFdText, ReadyFdForm};

// `seed`: a number, or an empty text for no fixed seed.
Objection AssignSeed(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string SeedText(const Settings& settings);                      // as CONFIG GET shows it
FileForm SeedForm(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kSeed{AssignSeed, SeedText, SeedForm};

}  // namespace respite::rows
