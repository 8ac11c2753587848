// Recorder: records the bytes that connections receive and send, for a Replay (the directive `record`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/pace.h"
#include "persistence/file_system.h"
#include "server/lab/recording/recording.h"
#include "server/net/byte_stream.h"

namespace respite {

class Recorder {
 public:
  struct Parts {
    FileSystem& files;
    const Pace& pace;
    Logger& log;
  };
  // Records nothing before Open. All parts must outlive it.
  explicit Recorder(const Parts& parts) : parts_(parts) {}
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Replaces the file. Only its owner may read it, because it contains passwords. Returns an error if that failed.
  std::optional<std::string> Open(const std::string& path, const RecordingStart& start);
  // Returns a tap for a new connection, which must be destroyed before the recorder.
  std::unique_ptr<StreamTap> NewTap();
  // Writes the buffered events to the file. If that fails, logs the error and ends the recording.
  void Flush();
  // Ends the recording when the server ends. The final disconnections are not recorded.
  void End();

 private:
  class Tap;

  void Add(uint64_t connection, RecordedEvent::Kind kind, Bytes bytes = {});

  const Parts parts_;
  std::unique_ptr<File> file_;  // null before Open or after an error
  int64_t began_us_ = 0;        // Pace time
  std::string unwritten_;
  uint64_t connections_ = 0;
};

}  // namespace respite
