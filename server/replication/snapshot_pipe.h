// SnapshotPipe: our end of the pipe into which a child writes a snapshot for others. It gives what it reads in pieces,
// one a Turn, so that clients are served in between, and knows the mark by which the child says that it has written
// all.
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
  // What somebody may have of a snapshot that he has not taken yet; whoever has more pauses the pipe. A socket that
  // gets room takes a window at once, and clients wait meanwhile.
  static constexpr size_t kWindowBytes = 32 * 1024;
  static constexpr size_t kPieceBytes = 16 * 1024;

  // Fails with errno.
  static Result<Ends, int> Open();

  // `mark` is the last that a child writes whose work is done. `piece` gets what was read; `ended` whether it was all.
  // Either may destroy the pipe.
  SnapshotPipe(Descriptor ours, std::string mark, Network& network, std::function<void(Bytes)> piece,
               std::function<void(bool is_whole)> ended);

  // The mark was the last that came.
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
