// SlotJob: a migration of slots between two nodes, as CLUSTER GETSLOTMIGRATIONS and CLUSTER MIGRATION STATUS show it.
// SlotJobLog: the migrations that these commands list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "base/slot_set.h"
#include "server/cluster/node_id.h"

namespace respite {

inline constexpr int64_t kSlotAckEveryMs = 1000;  // time between the ACKs that both nodes of a migration send

struct SlotJob {  // a slot migration, as CLUSTER GETSLOTMIGRATIONS shows it
  enum class Operation : uint8_t { kExport, kImport };
  enum class State : uint8_t {
    // States of an export, and of an import that this node has requested (SlotRequest).
    kQueued,
    kConnecting,
    kAuthenticating,  // AUTH was sent, and is not answered
    kEstablishing,    // ESTABLISH (of SlotRequest: REQUEST) was sent, and is not answered
    // States of an export.
    kWaitingToSnapshot,  // until a child can be forked
    kSnapshotting,       // a child writes the keys
    kStreaming,          // the child has ended; changes are sent
    kWaitingToPause,     // the target has the snapshot; changes are sent until few are left
    kPaused,             // writes are paused, and the target was told
    kGranted,            // FAILOVER-GRANTED was sent: the target may own the slots now
    // States of an import.
    kWaitingForAck,  // the source was answered; it sends nothing yet
    kReceivingSnapshot,
    kFollowing,          // the snapshot has arrived; changes follow
    kFailoverRequested,  // the source has paused writes; REQUEST-FAILOVER was sent to it
    kOnPrimary,          // on a replica: its primary imports the slots
    // States of exports and imports.
    kSuccess,
    kFailed,
    kCancelled,
  };

  std::string name;           // 40 hexadecimal digits
  Operation operation;        // kExport: this node gives the slots; kImport: this node gets them
  SlotSet slots;              // the slots that move
  NodeId source = {};         // the node that gives the slots
  NodeId target = {};         // the node that gets the slots
  State state;                // the current step, or how the job ended
  int64_t created_ms = 0;     // when the job was made (Unix ms)
  int64_t started_ms = 0;     // when the job, or its last attempt, began (Unix ms)
  int64_t ended_ms = -1;      // when the job succeeded or was cancelled (Unix ms); -1: it runs, or failed
  int64_t paused_ms = 0;      // after the pause of writes: its length; during it: when it began (Unix ms)
  int retries = 0;            // how often a requested import was tried again
  int64_t updated_s = 0;      // when the state last changed (Unix time)
  int64_t acked_s = 0;        // when the other node last answered or sent a CLUSTER SYNCSLOTS (Unix time)
  std::string message = {};   // why the job failed or was cancelled; empty otherwise
  uint64_t cow_bytes = 0;     // bytes of memory that were copied on write while the child of an export ran
  uint64_t unsent_bytes = 0;  // of an export: bytes of keys and changes that are still to be sent

  bool IsOver() const { return state >= State::kSuccess; }  // the job has succeeded, has failed or was cancelled
  void SetState(State next, int64_t now_ms) {               // changes the state of the job at this Unix time
    const bool was_paused = state == State::kPaused || state == State::kGranted;
    state = next;
    updated_s = now_ms / 1000;
    if (next == State::kPaused) paused_ms = now_ms;
    if (was_paused && IsOver()) paused_ms = now_ms - paused_ms;
    ended_ms = next == State::kSuccess || next == State::kCancelled ? now_ms : -1;
  }
  bool IsPausing() const { return state == State::kPaused || state == State::kGranted; }  // writes are paused
};

inline Bytes StateName(SlotJob::State state) {  // the state's name in CLUSTER GETSLOTMIGRATIONS
  using State = SlotJob::State;
  switch (state) {
    case State::kQueued:
      return "queued";
    case State::kConnecting:
      return "connecting";
    case State::kAuthenticating:
      return "reading-auth-response";
    case State::kEstablishing:
      return "reading-establish-response";
    case State::kWaitingToSnapshot:
      return "waiting-to-snapshot";
    case State::kSnapshotting:
      return "snapshotting";
    case State::kStreaming:
      return "replicating";
    case State::kWaitingToPause:
      return "waiting-to-pause";
    case State::kPaused:
      return "failover-paused";
    case State::kGranted:
      return "failover-granted";
    case State::kWaitingForAck:
      return "waiting-for-ack";
    case State::kReceivingSnapshot:
      return "receiving-snapshot";
    case State::kFollowing:
      return "waiting-for-paused";
    case State::kFailoverRequested:
      return "failover-requested";
    case State::kOnPrimary:
      return "occurring-on-primary";
    case State::kSuccess:
      return "success";
    case State::kFailed:
      return "failed";
    case State::kCancelled:
      return "cancelled";
  }
  return {};
}

class SlotJobLog {  // slot migrations in which this node took part, for CLUSTER GETSLOTMIGRATIONS
 public:
  using Jobs = std::list<std::shared_ptr<SlotJob>>;

  std::shared_ptr<SlotJob> Add(SlotJob job) {
    jobs_.push_front(std::make_shared<SlotJob>(std::move(job)));
    return jobs_.front();
  }
  std::shared_ptr<SlotJob> Find(Bytes name, SlotJob::Operation operation) const {  // null: there is no such migration
    const auto found = std::ranges::find_if(
        jobs_, [&](const std::shared_ptr<SlotJob>& job) { return job->name == name && job->operation == operation; });
    return found == jobs_.end() ? nullptr : *found;
  }
  void Remove(const std::shared_ptr<SlotJob>& job) { jobs_.remove(job); }  // removes this job from the log
  // Returns all slot migrations in the log, the latest first.
  const Jobs& All() const { return jobs_; }
  // Removes the oldest ended jobs, until at most `most` are left. `kept` is a failed job that will be tried again; it
  // does not count and stays (null: there is none).
  void Trim(size_t most, const SlotJob* kept);  // removes the oldest ended jobs

 private:
  Jobs jobs_;  // the latest first
};

inline void SlotJobLog::Trim(size_t most, const SlotJob* kept) {
  size_t over = 0;
  jobs_.remove_if(
      [&](const std::shared_ptr<SlotJob>& job) { return job.get() != kept && job->IsOver() && ++over > most; });
}

}  // namespace respite
