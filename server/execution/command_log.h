// CommandLogs: the latest commands that were slow (SLOWLOG), or had a large request or reply (COMMANDLOG).
// CommandLatency reports slow commands to LATENCY.
//
// Each log records only calls that reach its threshold (slowlog-log-slower-than, commandlog-…-larger-than). A negative
// threshold turns the log off.
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

class CommandLog final : public CallObserver {  // the log of SLOWLOG, or one of the logs of COMMANDLOG
 public:
  struct Parts {  // the objects that CommandLog uses; its constructor gets them
    const Env& env;
    const CurrentExecution& current_execution;  // the command that runs now
    CallObservers& observers;                   // attached observers, told of each command
  };
  struct LogKind {                               // what one log records: slow commands, large requests or large replies
    std::string_view name;                       // name of the log in COMMANDLOG
    int64_t Settings::*from;                     // threshold: slowlog-log-slower-than, or the like
    int64_t Settings::*max_records;              // value of the directive slowlog-max-len, or commandlog-…-max-len
    CallThresholds (*thresholds)(int64_t from);  // converts the directive's value to the observer's thresholds
    int64_t (*measured_amount)(const FinishedCall& call);  // returns what the log measures: duration in µs, or bytes
  };
  struct Record {                    // one entry of the log: a command with its time, cost and client
    int64_t id;                      // number of the record in this log, from 0
    int64_t unix_time_s;             // when the command ran, as Unix time in seconds
    int64_t measured_amount;         // what the log measures: duration in µs, or bytes of the request or reply
    std::vector<std::string> words;  // at most 32 arguments, each cut to 128 bytes and a note
    size_t word_count;               // number of all arguments
    std::string peer;                // address of the client
    std::string client_name;         // name that CLIENT SETNAME has set
  };
  static constexpr size_t kMaxShownArguments = 32;       // most arguments of a record (Redis: SLOWLOG_ENTRY_MAX_ARGC)
  static constexpr size_t kMaxShownArgumentBytes = 128;  // most bytes of an argument (Redis: SLOWLOG_ENTRY_MAX_STRING)

  CommandLog(const Parts& parts, const LogKind& subject) : parts_(parts), kind_(subject) { ApplyConfiguredLimit(); }

  std::string_view Name() const { return kind_.name; }
  void ApplyConfiguredLimit();        // begins or stops logging, as the threshold directive now says
  void Clear() { records_.clear(); }  // removes all entries (SLOWLOG RESET, COMMANDLOG RESET)
  const std::deque<Record>& Records() const { return records_; }  // all entries of the log, newest first
  int64_t NextId() const { return next_id_; }                     // id that the next entry gets

  void OnCall(const FinishedCall& call) override;  // adds a record of the command, unless it has the flag kSkipSlowlog

 private:
  // Removes the oldest records while there are more than `max_records`. As in Redis, a lower limit takes effect only
  // with the next record.
  void Trim();                                                                // enforces `max_records`
  static std::vector<std::string> Shorten(std::span<const Bytes> arguments);  // arguments as a record shows them

  const Parts parts_;           // the objects that the constructor got
  const LogKind& kind_;         // what this log records
  std::deque<Record> records_;  // the latest records, newest first
  int64_t next_id_ = 0;         // id that the next entry gets
};

struct CommandLogs {  // the three logs of slow and large commands: SLOWLOG and COMMANDLOG
  explicit CommandLogs(const CommandLog::Parts& parts);

  CommandLog* Find(Bytes name);  // finds the log that COMMANDLOG calls `name`, ignoring case; null: no such log
  void ApplyConfiguredLimits();  // begins or stops logging as the directives now say

  CommandLog slow;           // SLOWLOG
  CommandLog large_request;  // logs requests with many bytes
  CommandLog large_reply;    // logs requests whose replies have many bytes
};

// CommandLatency is attached as an observer only while latency-monitor-threshold is not 0.
class CommandLatency final : public CallObserver {  // reports slow commands to the LATENCY monitor
 public:
  struct Parts {  // the objects that CommandLatency uses; its constructor gets them
    const Env& env;
    CallObservers& observers;  // attached observers, told of each command
  };
  explicit CommandLatency(const Parts& parts) : parts_(parts) { ApplyConfiguredThreshold(); }

  void ApplyConfiguredThreshold();  // attaches or detaches, as latency-monitor-threshold now says

  void OnCall(const FinishedCall& call) override;  // adds to LATENCY; only slow commands arrive here

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
