// Directives whose values have a special syntax, which is described above the three functions of each directive.
// Assign… parses and stores a value, …Text prints it, and …FileLines returns its lines for CONFIG REWRITE.
#pragma once

#include <string>
#include <string_view>

#include "server/config/directive.h"

namespace respite::rows {

// `port`: a number, or `auto` for any free port.
Objection AssignPort(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores `port`, or says why not
std::string PortText(const Settings& settings);                                    // `port` as CONFIG GET shows it
FileLines PortFileLines(std::string_view name, const Settings& settings);          // the line `port` of CONFIG REWRITE
inline constexpr SpecialShape kPort{AssignPort, PortText, PortFileLines};

// `bind`: addresses to listen on, separated by spaces. With an empty list, the server does not listen for TCP.
Objection AssignBind(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores `bind`, or says why not
std::string BindText(const Settings& settings);                                    // `bind` as CONFIG GET shows it
FileLines BindFileLines(std::string_view name, const Settings& settings);          // the line `bind` of CONFIG REWRITE
inline constexpr SpecialShape kBind{AssignBind, BindText, BindFileLines};

// `cluster-slot-stats-enabled`: yes or no. Redis since 8.6 also has `cpu`, `net` and `mem`, and any list of these. As
// in Redis, CONFIG SET cannot turn `mem` on while a version with it is emulated.
Objection AssignSlotStats(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores it, or says why not
std::string SlotStatsText(const Settings& settings);                            // the value as CONFIG GET shows it
FileLines SlotStatsFileLines(std::string_view name, const Settings& settings);  // the line of CONFIG REWRITE
inline constexpr SpecialShape kSlotStats{AssignSlotStats, SlotStatsText, SlotStatsFileLines};

// `key-memory-histograms`: yes or no. As in Redis, CONFIG SET cannot turn it on while a version with it is emulated.
Objection AssignKeyMemoryHistograms(Settings& settings, ConfigWords words,  // stores the value, or says why not
                                    ConfigOrigin origin);
std::string KeyMemoryHistogramsText(const Settings& settings);                            // as CONFIG GET shows it
FileLines KeyMemoryHistogramsFileLines(std::string_view name, const Settings& settings);  // the line of CONFIG REWRITE
inline constexpr SpecialShape kKeyMemoryHistograms{AssignKeyMemoryHistograms, KeyMemoryHistogramsText,
                                                   KeyMemoryHistogramsFileLines};

// `dir`: a path. The server changes to this directory immediately.
Objection AssignDir(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores `dir`, or says why not
std::string DirText(const Settings& settings);                                    // `dir` as CONFIG GET shows it
FileLines DirFileLines(std::string_view name, const Settings& settings);          // the line `dir` of CONFIG REWRITE
inline constexpr SpecialShape kDir{AssignDir, DirText, DirFileLines};

// `save`: pairs of a number of seconds and a number of changes, as in SavePoint; an empty text means that the server
// never saves automatically.
Objection AssignSave(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores `save`, or says why not
std::string SaveText(const Settings& settings);                                    // `save` as CONFIG GET shows it
FileLines SaveFileLines(std::string_view name, const Settings& settings);          // the lines `save` of CONFIG REWRITE
inline constexpr SpecialShape kSave{AssignSave, SaveText, SaveFileLines};

// `client-output-buffer-limit`: for each client class, its name, hard limit, soft limit and soft seconds.
Objection AssignClientOutputBufferLimit(Settings& settings,  // stores the limits of some classes, or says why not
                                        ConfigWords words, ConfigOrigin origin);
std::string ClientOutputBufferLimitText(const Settings& settings);  // the value as CONFIG GET shows it
FileLines ClientOutputBufferLimitFileLines(std::string_view name, const Settings& settings);  // for CONFIG REWRITE
inline constexpr SpecialShape kClientOutputBufferLimit{AssignClientOutputBufferLimit, ClientOutputBufferLimitText,
                                                       ClientOutputBufferLimitFileLines};

// `oom-score-adj-values`: three numbers, for a primary, a replica and a child process.
Objection AssignOomScoreAdjValues(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores the value
std::string OomScoreAdjValuesText(const Settings& settings);  // `oom-score-adj-values` as CONFIG GET shows it
FileLines OomScoreAdjValuesFileLines(std::string_view name, const Settings& settings);  // lines for CONFIG REWRITE
inline constexpr SpecialShape kOomScoreAdjValues{AssignOomScoreAdjValues, OomScoreAdjValuesText,
                                                 OomScoreAdjValuesFileLines};

// `notify-keyspace-events`: a letter for each class of events to publish, for example "KEA"; an empty text means none.
Objection AssignNotifyKeyspaceEvents(Settings& settings,  // stores the classes of events, or says why not
                                     ConfigWords words, ConfigOrigin origin);
std::string NotifyKeyspaceEventsText(const Settings& settings);  // `notify-keyspace-events` as CONFIG GET shows it
FileLines NotifyKeyspaceEventsFileLines(std::string_view name, const Settings& settings);  // lines for CONFIG REWRITE
inline constexpr SpecialShape kNotifyKeyspaceEvents{AssignNotifyKeyspaceEvents, NotifyKeyspaceEventsText,
                                                    NotifyKeyspaceEventsFileLines};

// `replicaof`: host and port of the primary, or `no one`.
Objection AssignReplicaof(Settings& settings, ConfigWords words,  // stores `replicaof`, or says why not
                          ConfigOrigin origin);
std::string ReplicaofText(const Settings& settings);                            // `replicaof` as CONFIG GET shows it
FileLines ReplicaofFileLines(std::string_view name, const Settings& settings);  // lines for CONFIG REWRITE
inline constexpr SpecialShape kReplicaof{AssignReplicaof, ReplicaofText, ReplicaofFileLines};

// `latency-tracking-info-percentiles`: percentiles from 0 to 100, separated by spaces.
Objection AssignLatencyTrackingInfoPercentiles(Settings& settings,  // stores the percentiles, or says why not
                                               ConfigWords words, ConfigOrigin origin);
std::string LatencyTrackingInfoPercentilesText(const Settings& settings);  // the value as CONFIG GET shows it
FileLines LatencyTrackingInfoPercentilesFileLines(std::string_view name,   // the directive's line for CONFIG REWRITE
                                                  const Settings& settings);
inline constexpr SpecialShape kLatencyTrackingInfoPercentiles{
    AssignLatencyTrackingInfoPercentiles, LatencyTrackingInfoPercentilesText, LatencyTrackingInfoPercentilesFileLines};

// `exit-on-idle`: the time without clients after which the process ends, for example `30s`.
Objection AssignExitOnIdle(Settings& settings, ConfigWords words,  // stores `exit-on-idle`, or says why not
                           ConfigOrigin origin);
std::string ExitOnIdleText(const Settings& settings);  // `exit-on-idle` as CONFIG GET shows it
FileLines ExitOnIdleFileLines(std::string_view name, const Settings& settings);  // `exit-on-idle` for CONFIG REWRITE
inline constexpr SpecialShape kExitOnIdle{AssignExitOnIdle, ExitOnIdleText, ExitOnIdleFileLines};

// `emulate`: the version of Redis or Valkey to imitate, as in ParseEmulatedVersion; an empty text means none.
Objection AssignEmulate(Settings& settings, ConfigWords words,  // stores `emulate`, or says why not
                        ConfigOrigin origin);
std::string EmulateText(const Settings& settings);                            // `emulate` as CONFIG GET shows it
FileLines EmulateFileLines(std::string_view name, const Settings& settings);  // the line `emulate` of CONFIG REWRITE
inline constexpr SpecialShape kEmulate{AssignEmulate, EmulateText, EmulateFileLines};

// `load`: a file with fixtures (data for tests) to load at startup. Each line adds one file, and an empty text removes
// all.
Objection AssignLoad(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores `load`, or says why not
std::string LoadText(const Settings& settings);                                    // `load` as CONFIG GET shows it
FileLines LoadFileLines(std::string_view name, const Settings& settings);  // for CONFIG REWRITE: a line for each file
inline constexpr SpecialShape kLoad{AssignLoad, LoadText, LoadFileLines};

// `ready-fd`: the file descriptor to which the server writes when it is ready; 0 means none.
Objection AssignReadyFd(Settings& settings, ConfigWords words,  // stores `ready-fd`, or says why not
                        ConfigOrigin origin);
std::string ReadyFdText(const Settings& settings);                            // `ready-fd` as CONFIG GET shows it
FileLines ReadyFdFileLines(std::string_view name, const Settings& settings);  // the line `ready-fd` of CONFIG REWRITE
inline constexpr SpecialShape kReadyFd{AssignReadyFd, ReadyFdText, ReadyFdFileLines};

// `seed`: the start value (a number) of random choices, or an empty text for a random start value.
Objection AssignSeed(Settings& settings, ConfigWords words, ConfigOrigin origin);  // stores `seed`, or says why not
std::string SeedText(const Settings& settings);                                    // `seed` as CONFIG GET shows it
FileLines SeedFileLines(std::string_view name, const Settings& settings);          // the line `seed` of CONFIG REWRITE
inline constexpr SpecialShape kSeed{AssignSeed, SeedText, SeedFileLines};

}  // namespace respite::rows
