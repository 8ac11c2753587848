#include "server/storage/backup_recorder.h"

#include <utility>

namespace respite {

IoError BackupRecorder::Begin(const std::string& path, FileSystem::Mode mode) {
  auto file = files_.Open(path, mode);
  if (!file) return file.error();
  const auto bytes = file.value()->Size();
  if (!bytes) return bytes.error();
  writer_ = std::make_unique<AofWriter>(AofWriter::Parts{.files = files_,
                                                         .settings = env_.settings,
                                                         .clock = env_.clock,
                                                         .real_clock = env_.real_clock,
                                                         .log = env_.log,
                                                         .latency = env_.latency,
                                                         .fixed_policy = AppendFsync::kEverySecond});
  writer_->Open(std::move(file.value()), bytes.value());
  journals_.Attach(*this);
  return kNoError;
}

void BackupRecorder::End() {
  journals_.Detach(*this);
  writer_.reset();
}

IoError BackupRecorder::Flush() {
  if (!writer_) return kNoError;
  writer_->Flush(AofWriter::Urgency::kRelaxed, AofWriter::Child::kNone);
  return writer_->WriteOrSyncError().value_or(kNoError);
}

IoError BackupRecorder::SyncNow() {
  writer_->Flush(AofWriter::Urgency::kNow, AofWriter::Child::kNone);
  if (const auto error = writer_->WriteOrSyncError()) return *error;
  return writer_->SyncNow();
}

}  // namespace respite
