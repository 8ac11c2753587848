// JobLog: the slot migrations in which this node takes or took part, for CLUSTER GETSLOTMIGRATIONS.
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
  // Removes the oldest ended jobs, until at most `most` ended jobs are left.
  void Trim(size_t most);

 private:
  Jobs jobs_;
};

inline void JobLog::Trim(size_t most) {
  size_t over = 0;
  jobs_.remove_if([&](const std::shared_ptr<SlotJob>& job) { return job->IsOver() && ++over > most; });
}

}  // namespace respite
