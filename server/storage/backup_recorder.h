// BackupRecorder: writes the propagated commands to the INCR file of a backup that does not use the append-only file.
//
// The recorder writes at the end of each Turn (iteration of the event loop) and syncs every second, whatever
// appendfsync says, because no client waits for this file. A disk error does not affect the server: only the backup
// fails.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/dataset/journal.h"
#include "server/runtime/env.h"
#include "server/storage/aof_writer.h"

namespace respite {

class BackupRecorder final : public Journal {  // writes propagated commands to a backup's own INCR file
 public:
  // `journals` passes all propagated commands to this object. The three arguments must outlive this object.
  BackupRecorder(const Env& env, FileSystem& files, Journals& journals)
      : env_(env), files_(files), journals_(journals) {}

  // Appends all propagated commands to the file `path` from now on. Requires: nothing is recorded.
  IoError Begin(const std::string& path, FileSystem::Mode mode);  // begins to record in this file
  void End();                                                     // records no more; drops what is not written yet
  IoError Flush();    // at a Turn's end: writes the buffer; returns the error after which the file is useless
  IoError SyncNow();  // writes and syncs everything; returns the error

  void Append(const PropagatedGroup& group) override { writer_->Append(group); }            // buffers the commands
  size_t BufferedBytes() const override { return writer_ ? writer_->BufferedBytes() : 0; }  // bytes not written yet

 private:
  const Env& env_;                     // settings, clocks and log
  FileSystem& files_;                  // access to the disk
  Journals& journals_;                 // gives the propagated commands to the recorder
  std::unique_ptr<AofWriter> writer_;  // writes and syncs the file; null: nothing is recorded
};

}  // namespace respite
