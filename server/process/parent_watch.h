// ParentWatch (`exit-with-parent`): the process that started this one, so that it does not go on alone.
//
// It is watched as a whole, not its thread that started us, as PR_SET_PDEATHSIG would do. Whoever adopts a process
// whose parent has ended (init, or a subreaper) is not its parent. One is told from the other by the session: a process
// has that of its parent, or one of its own. So a parent that ended before we looked is not noticed if the one who
// adopts us has its session.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/descriptor.h"

namespace respite {

class ParentWatch {
 public:
  enum class Finding : uint8_t {
    kThere,
    kOutside,  // it is outside of our container: nobody can watch it
    kGone,     // it has ended already
  };
  Finding Find();

  pid_t pid() const { return pid_; }
  // Becomes readable when the parent ends. -1: this system has no such descriptors, so ask HasEnded now and then.
  // Requires: Find has returned kThere.
  int DescriptorToWatch() const { return descriptor_.Get(); }
  bool HasEnded() const;

 private:
  bool IsAdoptive() const;

  pid_t pid_ = 0;
  Descriptor descriptor_;
};

}  // namespace respite
