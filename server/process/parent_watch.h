// ParentWatch (`exit-with-parent`): watches the process that started this one, so that this process ends with it.
//
// ParentWatch watches the whole parent process, while PR_SET_PDEATHSIG would watch only the thread that forked.
//
// The parent may end before Find. Then getppid names the process that has adopted this one (init, or a subreaper). Find
// notices this if the adopter has another session than this process, because a process starts in the session of its
// parent (kGone). It does not notice this if both have the same session, or if this process leads a session of its own.
// Then ParentWatch watches the adopter.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/descriptor.h"

namespace respite {

class ParentWatch {  // notices when the process that started this one ends
 public:
  enum class Finding : uint8_t {  // what Find has found out about the parent
    kThere,
    kOutside,  // outside of the container, so it cannot be watched
    kGone,     // the process has already ended
  };
  Finding Find();  // looks for the parent; must be called first

  pid_t pid() const { return pid_; }
  // Returns a descriptor that becomes readable when the parent ends, or -1 if the system has no such descriptors. After
  // -1 the caller must poll HasEnded. Requires: Find has returned kThere.
  int PollDescriptor() const { return descriptor_.Get(); }  // readable when the parent ends; -1: none
  bool HasEnded() const;                                    // whether the parent has ended

 private:
  bool HasAdoptiveParent() const;  // true: the parent is in another session, so it has only adopted this process

  pid_t pid_ = 0;
  Descriptor descriptor_;  // pidfd of the parent; not open if the system has no pidfds
};

}  // namespace respite
