// SlotRequest: asks another node to send slots to this node (CLUSTER MIGRATION IMPORT). The other node then exports the
// slots (SlotExport), and SlotImports receives them.
//
//   kQueued ─► kConnecting ─► kEstablishing ─► (SlotImports) kReceivingSnapshot ─► kFollowing ─► kSuccess
//
//   CLUSTER SYNCSLOTS REQUEST TARGET id NAME name SLOTSRANGE …   the source queues an export with this name
//
// If the source is a node of Redis, SlotSourceLink asks it in Redis' way, and receives the slots.
//
// The link stays open until the source begins the export. A failed request is tried again each second until an
// operator cancels it, as in Redis.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/cluster/slots/slot_job.h"
#include "server/cluster/slots/slot_source_link.h"
#include "server/net/link.h"

namespace respite {

class Cluster;
struct Services;

class SlotRequest final : public Link::User {  // asks another node to send slots to this node
 public:
  // Requires: this server is a node of a cluster, and the job is an import.
  SlotRequest(const Services& services, SlotImports& imports, std::shared_ptr<SlotJob> job)
      : services_(services), imports_(imports), job_(std::move(job)) {}
  SlotRequest(const SlotRequest&) = delete;
  SlotRequest& operator=(const SlotRequest&) = delete;

  void Tick();  // starts the request, tries again after an error, notices its timeout; called by the timer
  void Cancel(const std::string& reason);  // ends the request for this reason; does nothing if it was successful
  const SlotJob& job() const { return *job_; }
  bool IsOver() const {  // true: the slots are here, or the request was cancelled; false: it runs or will be retried
    return job_->state == SlotJob::State::kSuccess || job_->state == SlotJob::State::kCancelled;
  }

  // The functions of Link::User.
  void OnConnected() override;                       // sends the request
  void OnReceived(Bytes bytes) override;             // handles the answers to AUTH and to the request
  void OnEnded(const std::string& reason) override;  // fails the request, unless the import has begun

 private:
  Cluster& cluster() const;               // this server as a cluster node
  void SendRequest();                     // asks the source to export the slots; no effect if it is already doing so
  void Start();                           // connects to the source; fails if that is no primary with these slots
  void HandleLine(Bytes line);            // handles one answer
  void Fail(const std::string& message);  // ends this attempt
  bool IsWaiting() const {                // true: the source has not begun the export yet
    return job_->state >= SlotJob::State::kConnecting && job_->state <= SlotJob::State::kEstablishing;
  }

  const Services& services_;  // the other parts of this server
  SlotImports& imports_;      // receives the slots
  const std::shared_ptr<SlotJob> job_;
  std::unique_ptr<Link> link_;
  std::shared_ptr<SlotSourceLink> source_;  // receives the slots from a node of Redis; null: not from one
  std::string line_;                        // the beginning of an incomplete answer
  int unanswered_ = 0;                      // requests (with AUTH) that the source has not answered
  int64_t changed_ms_ = 0;                  // when the request started, was answered or failed (real time)
  bool saw_failure_ = false;                // true: this attempt has failed, as noted at changed_ms_
};

}  // namespace respite
