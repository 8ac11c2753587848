// Directives whose values have a special syntax, which is described above the functions of each directive.
#pragma once

#include <string>
#include <string_view>

#include "server/config/directive.h"

namespace respite::rows {

// `port`: a number, or `auto` for any free port.
Objection AssignPort(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string PortText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines PortFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kPort{AssignPort, PortText, PortFileLines};

// `bind`: addresses, separated by spaces. With an empty list, the server does not listen for TCP.
Objection AssignBind(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string BindText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines BindFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kBind{AssignBind, BindText, BindFileLines};

// `dir`: a path. The server changes to this directory immediately.
Objection AssignDir(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string DirText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines DirFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kDir{AssignDir, DirText, DirFileLines};

// `save`: pairs of a number of seconds and a number of changed keys, as in SavePoint; an empty text means never.
Objection AssignSave(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string SaveText(const Settings& settings);                                    // `save` as CONFIG GET shows it
FileLines SaveFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kSave{AssignSave, SaveText, SaveFileLines};

// `client-output-buffer-limit`: for each client class, its name, hard limit, soft limit and soft seconds.
Objection AssignClientOutputBufferLimit(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string ClientOutputBufferLimitText(const Settings& settings);                            // as CONFIG GET shows it
FileLines ClientOutputBufferLimitFileLines(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kClientOutputBufferLimit{AssignClientOutputBufferLimit, ClientOutputBufferLimitText,
                                                       ClientOutputBufferLimitFileLines};

// `oom-score-adj-values`: three numbers, for a primary, a replica and a child process.
Objection AssignOomScoreAdjValues(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string OomScoreAdjValuesText(const Settings& settings);                            // as CONFIG GET shows it
FileLines OomScoreAdjValuesFileLines(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kOomScoreAdjValues{AssignOomScoreAdjValues, OomScoreAdjValuesText,
                                                 OomScoreAdjValuesFileLines};

// `notify-keyspace-events`: a letter for each class of events to publish, for example "KEA"; an empty text means none.
Objection AssignNotifyKeyspaceEvents(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string NotifyKeyspaceEventsText(const Settings& settings);                            // as CONFIG GET shows it
FileLines NotifyKeyspaceEventsFileLines(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kNotifyKeyspaceEvents{AssignNotifyKeyspaceEvents, NotifyKeyspaceEventsText,
                                                    NotifyKeyspaceEventsFileLines};

// `replicaof`: host and port, or `no one`.
Objection AssignReplicaof(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string ReplicaofText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines ReplicaofFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kReplicaof{AssignReplicaof, ReplicaofText, ReplicaofFileLines};

// `latency-tracking-info-percentiles`: percentiles from 0 to 100, separated by spaces.
Objection AssignLatencyTrackingInfoPercentiles(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string LatencyTrackingInfoPercentilesText(const Settings& settings);  // as CONFIG GET shows it
FileLines LatencyTrackingInfoPercentilesFileLines(std::string_view name,
                                                  const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kLatencyTrackingInfoPercentiles{
    AssignLatencyTrackingInfoPercentiles, LatencyTrackingInfoPercentilesText, LatencyTrackingInfoPercentilesFileLines};

// `exit-on-idle`: a duration, for example `30s`.
Objection AssignExitOnIdle(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string ExitOnIdleText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines ExitOnIdleFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kExitOnIdle{AssignExitOnIdle, ExitOnIdleText, ExitOnIdleFileLines};

// `emulate`: a version of Redis or Valkey, as in ParseEmulatedVersion; an empty text means none.
Objection AssignEmulate(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores it, or says why not
std::string EmulateText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines EmulateFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kEmulate{AssignEmulate, EmulateText, EmulateFileLines};

// `load`: a file to load at startup. Each line adds one file, and an empty text removes all.
Objection AssignLoad(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string LoadText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines LoadFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kLoad{AssignLoad, LoadText, LoadFileLines};

// `ready-fd`: the file descriptor to which readiness is reported; 0 means none.
Objection AssignReadyFd(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string ReadyFdText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines ReadyFdFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kReadyFd{AssignReadyFd, ReadyFdText, ReadyFdFileLines};

// `seed`: a number, or an empty text for no fixed seed.
Objection AssignSeed(Settings& settings, ConfigWords words, ConfigOrigin origin);  // nullopt: stored
std::string SeedText(const Settings& settings);                                    // as CONFIG GET shows it
FileLines SeedFileLines(std::string_view name, const Settings& settings);          // for CONFIG REWRITE
inline constexpr SpecialShape kSeed{AssignSeed, SeedText, SeedFileLines};

}  // namespace respite::rows
