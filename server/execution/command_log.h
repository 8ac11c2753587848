// CommandLogs: the latest commands that were slow (SLOWLOG), or had a large request or reply (COMMANDLOG).
// CommandLatency reports slow commands to LATENCY.
//
// Each log receives only calls that reach its directive (slowlog-log-slower-than, commandlog-…-larger-than). A negative
// value turns the log off.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

struct CurrentExecution;
struct Settings;

class CommandLog final : public CallObserver {  // SLOWLOG, or a log of COMMANDLOG
 public:
  struct Parts {  // the objects that it uses
    const Env& env;
    const CurrentExecution& current_execution;
    CallObservers& observers;
  };
  struct Subject {                                // what a log records
    std::string_view name;                        // for COMMANDLOG
    int64_t Settings::*from;                      // the directive slowlog-log-slower-than, or the like
    int64_t Settings::*max_records;               // the directive slowlog-max-len, or the like
    CallLimits (*limits)(int64_t from);           // makes the limits of the observer
    int64_t (*figure)(const FinishedCall& call);  // of a call: duration in µs, or bytes
  };
  struct Record {  // one entry of the log
    int64_t id;
    int64_t unix_time_s;
    int64_t figure;                  // duration in microseconds, or bytes
    std::vector<std::string> words;  // shortened: at most kMaxShownArguments, each at most kMaxShownArgumentBytes
    std::string peer;                // address of the client
    std::string client_name;
  };
  static constexpr size_t kMaxShownArguments = 32;       // Redis: SLOWLOG_ENTRY_MAX_ARGC
  static constexpr size_t kMaxShownArgumentBytes = 128;  // Redis: SLOWLOG_ENTRY_MAX_STRING

  CommandLog(const Parts& parts, const Subject& subject) : parts_(parts), subject_(subject) { ApplyConfiguredLimit(); }

  std::string_view Name() const { return subject_.name; }
  void ApplyConfiguredLimit();  // of the directive, after it has changed
  void Clear() { records_.clear(); }
  const std::deque<Record>& Records() const { return records_; }  // newest first
  int64_t NextId() const { return next_id_; }                     // of the next record

  // Cost: O(arguments kept).
  void OnCall(const FinishedCall& call) override;  // adds a record

 private:
  // Redis: a directive that shortens the log applies with the next record.
  void Trim();  // removes the oldest records
  static std::vector<std::string> Shorten(std::span<const Bytes> arguments);

  const Parts parts_;           // the objects that it uses
  const Subject& subject_;      // what is logged
  std::deque<Record> records_;  // newest first
  int64_t next_id_ = 0;
};

struct CommandLogs {  // SLOWLOG and the logs of COMMANDLOG
  explicit CommandLogs(const CommandLog::Parts& parts);

  CommandLog* Find(Bytes name);  // ignoring case; null: no such log
  void ApplyConfiguredLimits();  // of all logs

  CommandLog slow;  // SLOWLOG
  CommandLog large_request;
  CommandLog large_reply;
};

// Attached while latency-monitor-threshold is set.
class CommandLatency final : public CallObserver {  // reports slow commands to LATENCY
 public:
  struct Parts {
    const Env& env;
    CallObservers& observers;
  };
  explicit CommandLatency(const Parts& parts) : parts_(parts) { ApplyConfiguredThreshold(); }

  void ApplyConfiguredThreshold();  // of the directive, after it has changed

  void OnCall(const FinishedCall& call) override;  // reports it

 private:
  const Parts parts_;  // the objects that it uses
};

}  // namespace respite
