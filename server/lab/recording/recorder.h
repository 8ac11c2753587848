// Recorder: writes down what connections receive and send, for a Replay (the directive `record`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/pace.h"
#include "persistence/file_system.h"
#include "server/lab/recording/recording.h"
#include "server/net/stream_tap.h"

namespace respite {

class Recorder {
 public:
  struct Parts {
    FileSystem& files;
    const Pace& pace;
    Logger& log;
  };
  // It writes nothing down before Open. All parts must outlive it.
  explicit Recorder(const Parts& parts) : parts_(parts) {}
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Replaces the file, which only its owner may read: it has passwords. Returns why that failed.
  std::optional<std::string> Open(const std::string& path, const RecordingStart& start);
  // For a new connection, which ends before the recorder does.
  std::unique_ptr<StreamTap> NewTap();
  // Writes to the file what is not there yet. When that fails, the recording ends, and the log says so.
  void Flush();
  // The server ends; how its connections end then is no part of the recording.
  void End();

 private:
  class Tap;

  void Add(uint64_t connection, RecordedEvent::Kind kind, Bytes bytes = {});

  const Parts parts_;
  std::unique_ptr<File> file_;  // null: it is not open yet, or has failed
  int64_t began_us_ = 0;        // of the Pace
  std::string unwritten_;
  uint64_t connections_ = 0;
};

}  // namespace respite
