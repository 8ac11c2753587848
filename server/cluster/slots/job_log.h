// JobLog: the migrations of slots that this node takes or took part in, for CLUSTER GETSLOTMIGRATIONS.
#pragma once

#include <algorithm>
#include <list>
#include <memory>

#include "server/cluster/slots/slot_job.h"

namespace respite {

class JobLog {
 public:
  using Jobs = std::list<std::shared_ptr<SlotJob>>;

  std::shared_ptr<SlotJob> Add(SlotJob job) {
    jobs_.push_front(std::make_shared<SlotJob>(std::move(job)));
    return jobs_.front();
  }
  // The latest first.
  const Jobs& All() const { return jobs_; }
  // Forgets the oldest of those that are over, until `most` of these are left.
  void Trim(size_t most);

 private:
  Jobs jobs_;
};

inline void JobLog::Trim(size_t most) {
  size_t over = 0;
  jobs_.remove_if([&](const std::shared_ptr<SlotJob>& job) { return job->IsOver() && ++over > most; });
}

}  // namespace respite
