// Directives whose values have a special syntax, given in the comment of each.
#pragma once

#include <string>
#include <string_view>

#include "server/config/directive.h"

namespace respite::rows {

// a number, or "auto"
Objection AssignPort(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string PortText(const Settings& settings);
FileForm PortForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kPort{AssignPort, PortText, PortForm};

// addr addr …; an empty list disables TCP
Objection AssignBind(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string BindText(const Settings& settings);
FileForm BindForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kBind{AssignBind, BindText, BindForm};

// a path; changes the folder immediately
Objection AssignDir(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string DirText(const Settings& settings);
FileForm DirForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kDir{AssignDir, DirText, DirForm};

// seconds changes …
Objection AssignSave(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string SaveText(const Settings& settings);
FileForm SaveForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kSave{AssignSave, SaveText, SaveForm};

// class hard soft seconds …
Objection AssignClientOutputBufferLimit(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ClientOutputBufferLimitText(const Settings& settings);
FileForm ClientOutputBufferLimitForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kClientOutputBufferLimit{AssignClientOutputBufferLimit, ClientOutputBufferLimitText,
                                                       ClientOutputBufferLimitForm};

// primary replica child
Objection AssignOomScoreAdjValues(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string OomScoreAdjValuesText(const Settings& settings);
FileForm OomScoreAdjValuesForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kOomScoreAdjValues{AssignOomScoreAdjValues, OomScoreAdjValuesText, OomScoreAdjValuesForm};

// letters
Objection AssignNotifyKeyspaceEvents(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string NotifyKeyspaceEventsText(const Settings& settings);
FileForm NotifyKeyspaceEventsForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kNotifyKeyspaceEvents{AssignNotifyKeyspaceEvents, NotifyKeyspaceEventsText,
                                                    NotifyKeyspaceEventsForm};

// host port, or "no one"
Objection AssignReplicaof(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ReplicaofText(const Settings& settings);
FileForm ReplicaofForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kReplicaof{AssignReplicaof, ReplicaofText, ReplicaofForm};

// percentile …
Objection AssignLatencyTrackingInfoPercentiles(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string LatencyTrackingInfoPercentilesText(const Settings& settings);
FileForm LatencyTrackingInfoPercentilesForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kLatencyTrackingInfoPercentiles{
    AssignLatencyTrackingInfoPercentiles, LatencyTrackingInfoPercentilesText, LatencyTrackingInfoPercentilesForm};

// a duration
Objection AssignExitOnIdle(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ExitOnIdleText(const Settings& settings);
FileForm ExitOnIdleForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kExitOnIdle{AssignExitOnIdle, ExitOnIdleText, ExitOnIdleForm};

// a version of Redis or Valkey, as in EmulatedByName; an empty text means none
Objection AssignEmulate(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string EmulateText(const Settings& settings);
FileForm EmulateForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kEmulate{AssignEmulate, EmulateText, EmulateForm};

// a file; each line adds one, and an empty text removes all
Objection AssignLoad(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string LoadText(const Settings& settings);
FileForm LoadForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kLoad{AssignLoad, LoadText, LoadForm};

// the number of a file descriptor
Objection AssignReadyFd(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string ReadyFdText(const Settings& settings);
FileForm ReadyFdForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kReadyFd{AssignReadyFd, ReadyFdText, ReadyFdForm};

// a number, or an empty text
Objection AssignSeed(Settings& settings, ConfigWords words, ConfigOrigin origin);
std::string SeedText(const Settings& settings);
FileForm SeedForm(std::string_view name, const Settings& settings);
inline constexpr SpecialShape kSeed{AssignSeed, SeedText, SeedForm};

}  // namespace respite::rows
