// SnapshotPipe: the read end of the pipe into which a child writes a snapshot for receivers: replicas (FullSync), or
// the target of a slot export (SlotExport). Reads one piece in each event loop turn, so that clients are served in
// between. Recognises the mark that the child writes at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "server/net/link.h"

namespace respite {

class SnapshotPipe {  // the read end of the pipe into which a child writes a snapshot
 public:
  struct Ends {
    Descriptor read_end;   // the read end, for this process
    Descriptor write_end;  // the write end, for the child
  };
  // Limits for sending a snapshot. They are small, because a socket may take a whole window in one turn of the event
  // loop, and other clients wait meanwhile.
  static constexpr size_t kWindowBytes = 32 * 1024;  // about the maximum of unsent snapshot bytes per receiver
  static constexpr size_t kPieceBytes = 16 * 1024;   // maximum bytes of one read from the pipe or the snapshot file

  static Result<Ends, int> Open();  // makes a pipe; fails with errno

  // `mark` is the last text that a successful child writes. `piece` receives the data and the mark. `ended` is called
  // when the child has closed its end, or when reading failed; `is_whole` says whether the mark came last. Both
  // functions may destroy this SnapshotPipe.
  SnapshotPipe(Descriptor read_end, std::string mark, Network& network, std::function<void(Bytes)> piece,
               std::function<void(bool is_whole)> ended);

  bool IsWhole() const { return tail_ == mark_; }  // true: the snapshot is complete: its last bytes are the mark
  bool IsPaused() const { return is_paused_; }     // true: reading has stopped, because a receiver is slow
  void Pause() { SetPaused(true); }                // stops reading from the pipe
  void Resume() { SetPaused(false); }              // reads from the pipe again

 private:
  void Read();
  void SetPaused(bool is_paused);  // stops or resumes reading

  const Descriptor read_end_;                    // the read end of the pipe
  const std::string mark_;                       // the text that a successful child writes last
  const std::function<void(Bytes)> on_piece_;    // called with each piece of data, also the mark
  const std::function<void(bool)> on_end_;       // called at the end of the data; true: complete
  std::string tail_;                             // the last bytes that were read, at most as many as mark_ has
  bool is_paused_ = false;                       // true: reading has stopped, because a receiver is slow
  const std::unique_ptr<Network::Watch> watch_;  // calls Read when the pipe has data, until destroyed
};

}  // namespace respite
