#include "server/replication/snapshot_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace respite {

Result<SnapshotPipe::Ends, int> SnapshotPipe::Open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failure(int{errno});
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Ends{Descriptor(ends[0]), Descriptor(ends[1])};
}

SnapshotPipe::SnapshotPipe(Descriptor read_end, std::string mark, Network& network, std::function<void(Bytes)> piece,
                           std::function<void(bool is_whole)> ended)
    : read_end_(std::move(read_end)),
      mark_(std::move(mark)),
      on_piece_(std::move(piece)),
      on_end_(std::move(ended)),
      watch_(network.WatchPipe(read_end_.Get(), [this] { Read(); })) {}

void SnapshotPipe::Read() {
  std::array<char, kPieceBytes> piece;  // NOLINT: filled before it is read
  const ssize_t got = read(read_end_.Get(), piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    const auto ended = on_end_;  // the call may destroy this
    return ended(IsWhole());
  }
  const Bytes bytes(piece.data(), static_cast<size_t>(got));
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), mark_.size())));
  tail_.erase(0, tail_.size() - std::min(tail_.size(), mark_.size()));
  const auto hand_on = on_piece_;
  hand_on(bytes);
}

void SnapshotPipe::SetPaused(bool is_paused) {
  if (is_paused == is_paused_) return;
  is_paused_ = is_paused;
  watch_->SetReading(is_paused ? Link::Reading::kOff : Link::Reading::kOn);
}

}  // namespace respite
