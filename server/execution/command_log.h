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

class CommandLog final : public CallObserver {
 public:
  struct Parts {
    const Env& env;
    const CurrentExecution& current_execution;
    CallObservers& observers;
  };
  // Defines a log: its limits, and the figure of a call that is compared with them.
  struct Subject {
    std::string_view name;  // for COMMANDLOG
    int64_t Settings::*from;
    int64_t Settings::*max_records;
    CallLimits (*limits)(int64_t from);
    int64_t (*figure)(const FinishedCall& call);
  };
  struct Record {
    int64_t id;
    int64_t unix_time_s;
    int64_t figure;                  // microseconds, or bytes
    std::vector<std::string> words;  // shortened: at most kWordsMax, each at most kWordBytesMax
    std::string peer;
    std::string client_name;
  };
  static constexpr size_t kWordsMax = 32;
  static constexpr size_t kWordBytesMax = 128;

  CommandLog(const Parts& parts, const Subject& subject) : parts_(parts), subject_(subject) { AdoptLimit(); }

  std::string_view Name() const { return subject_.name; }
  // Applies the directive with the least figure to log (slowlog-log-slower-than and similar). Must be called when it
  // has changed.
  void AdoptLimit();
  void Clear() { records_.clear(); }
  // Returns the records, newest first.
  const std::deque<Record>& Records() const { return records_; }
  int64_t NextId() const { return next_id_; }

  // Adds a record of the call to the log. Cost: O(arguments kept).
  void OnCall(const FinishedCall& call) override;

 private:
  // Removes the oldest records. Redis: a directive that shortens the log applies with the next record.
  void Trim();
  static std::vector<std::string> Shorten(std::span<const Bytes> words);

  const Parts parts_;
  const Subject& subject_;
  std::deque<Record> records_;
  int64_t next_id_ = 0;
};

struct CommandLogs {
  explicit CommandLogs(const CommandLog::Parts& parts);

  // Returns the log with this name, ignoring case, or null.
  CommandLog* Find(Bytes name);
  void AdoptLimits();

  CommandLog slow;
  CommandLog large_request;
  CommandLog large_reply;
};

// Reports slow commands to the latency monitor. Attached while latency-monitor-threshold is set.
class CommandLatency final : public CallObserver {
 public:
  struct Parts {
    const Env& env;
    CallObservers& observers;
  };
  explicit CommandLatency(const Parts& parts) : parts_(parts) { AdoptThreshold(); }

  // Applies latency-monitor-threshold. Must be called when it has changed.
  void AdoptThreshold();

  void OnCall(const FinishedCall& call) override;

 private:
  const Parts parts_;
};

}  // namespace respite
