// InProcessForker: a forker without processes. A job runs when it is started, on the data set of that time, and the
// next Poll reports its end. A held job runs when it is released, on the data set of that later time.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/descriptor.h"
#include "server/storage/children.h"

namespace respite {

class InProcessForker final : public Forker {
 public:
  // Delays jobs until Release.
  void Hold() { holds_ = true; }
  void Release() {
    holds_ = false;
    if (running_ && !end_) RunJob();
  }
  // Makes the next Start fail.
  void FailNext(int error) { next_error_ = error; }
  // Ends the running child by this signal; what it has written remains.
  void Crash(int signal) {
    if (!running_) return;
    end_ = ChildEnd{work_, ChildOutcome::kFailed, signal, kPid, 0, progress_};
    output_ = Descriptor();
  }
  // From now on, a child whose job ran ends before a signal can kill it.
  void OutrunKill() { outruns_kill_ = true; }
  bool Runs() const { return running_; }
  // The number of children so far.
  int Started() const { return started_; }

  Result<pid_t, int> Start(ChildWork work, Job job, int output) override {
    if (next_error_ != 0) return Failure(std::exchange(next_error_, 0));
    ++started_;
    running_ = true;
    work_ = work;
    job_ = std::move(job);
    output_ = Descriptor(output < 0 ? -1 : dup(output));
    // The pipe has no reader while the job runs, so it must hold all output.
    if (output >= 0) fcntl(output, F_SETPIPE_SZ, kPipeBytes);
    progress_ = {};
    end_.reset();
    if (!holds_) RunJob();
    return pid_t{kPid};
  }
  ChildProgress Progress() override { return running_ ? progress_ : ChildProgress{}; }
  std::optional<ChildEnd> Poll() override {
    if (!end_) return std::nullopt;
    running_ = false;
    return std::exchange(end_, std::nullopt);
  }
  void Kill() override {
    if (!running_ || (outruns_kill_ && end_)) return;
    end_ = ChildEnd{work_, ChildOutcome::kKilled, SIGUSR1, kPid, 0, progress_};
    output_ = Descriptor();
  }

 private:
  static constexpr pid_t kPid = 4242;
  static constexpr int kPipeBytes = 1024 * 1024;

  class Reporter final : public ChildReporter {
   public:
    Reporter(ChildProgress& progress, int output) : progress_(progress), output_(output) {}
    int OutputDescriptor() const override { return output_; }
    void Tell(uint64_t keys_done) override { progress_.keys_done = keys_done; }

   private:
    ChildProgress& progress_;
    const int output_;
  };

  void RunJob() {
    Reporter reporter(progress_, output_.Get());
    const bool done = std::exchange(job_, nullptr)(reporter);
    output_ = Descriptor();
    end_ = ChildEnd{work_, done ? ChildOutcome::kSucceeded : ChildOutcome::kFailed, 0, kPid, 0, progress_};
  }

  bool holds_ = false;
  bool running_ = false;
  bool outruns_kill_ = false;
  int started_ = 0;
  int next_error_ = 0;
  ChildWork work_ = ChildWork::kSnapshot;
  Job job_;
  Descriptor output_;
  ChildProgress progress_;
  std::optional<ChildEnd> end_;
};

}  // namespace respite
