// SnapshotPipe: the read end of the pipe into which a child writes a snapshot for replicas. It reads one piece per
// turn, so that clients are served in between. It also recognises the mark that the child writes at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "server/net/link.h"

namespace respite {

class SnapshotPipe {
 public:
  struct Ends {
    Descriptor ours;
    Descriptor childs;
  };
  // Maximum unsent bytes per replica; above it the pipe pauses. A socket that gets room takes a whole window in one
  // turn, while other clients wait.
  static constexpr size_t kWindowBytes = 32 * 1024;
  static constexpr size_t kPieceBytes = 16 * 1024;

  // Returns errno on failure.
  static Result<Ends, int> Open();

  // `mark` is the last text that a successful child writes. `piece` receives the data, and `ended` whether it was
  // complete. Either may destroy the pipe.
  SnapshotPipe(Descriptor ours, std::string mark, Network& network, std::function<void(Bytes)> piece,
               std::function<void(bool is_whole)> ended);

  // Returns whether the mark was the last text read.
  bool IsWhole() const { return tail_ == mark_; }
  bool IsPaused() const { return is_paused_; }
  void Pause() { SetPaused(true); }
  void Resume() { SetPaused(false); }

 private:
  void Read();
  void SetPaused(bool is_paused);

  const Descriptor end_;
  const std::string mark_;
  const std::function<void(Bytes)> piece_;
  const std::function<void(bool)> ended_;
  std::string tail_;  // the last bytes that were read
  bool is_paused_ = false;
  const std::unique_ptr<Network::Watch> watch_;
};

}  // namespace respite
