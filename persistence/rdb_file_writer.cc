#include "persistence/rdb_file_writer.h"

#include "base/crc64.h"
#include "persistence/function_payload.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_value_writer.h"

namespace respite {

namespace {

constexpr size_t kBuffer = 256 * 1024;

// Writes to the file and computes the checksum. After a write error, ignores all further bytes.
class FileDrain final : public RdbDrain {
 public:
  FileDrain(File& file, const RdbSaveOptions& options) : file_(file, options.sync), options_(options) {}

  void Drain(Bytes bytes) override {
    if (file_.error() != kNoError) return;
    if (options_.checksum == RdbSaveOptions::Checksum::kCrc64) checksum_ = Crc64(checksum_, bytes);
    file_.Write(bytes);
  }

  IoError error() const { return file_.error(); }
  uint64_t bytes() const { return file_.bytes(); }
  uint64_t checksum() const { return checksum_; }

 private:
  GradualWriter file_;
  const RdbSaveOptions& options_;
  uint64_t checksum_ = 0;
};

class Writer {
 public:
  Writer(File& file, const RdbContent& content, const RdbSaveOptions& options,
         const std::function<void(uint64_t keys)>& on_progress)
      : content_(content),
        options_(options),
        on_progress_(on_progress),
        drain_(file, options),
        out_(options.compression, drain_, kBuffer) {
    out_.SetDialect(options.dialect);
  }

  Result<RdbSaveResult, IoError> Write() {
    WriteHead();
    out_.Flush();  // a replica checks the head before the rest is produced
    for (Bytes library : content_.libraries) WriteFunctionLibrary(out_, library);
    const int databases = content_.keys == RdbContent::Keys::kAll ? content_.keyspace.Count() : 0;
    for (int db = 0; db < databases && drain_.error() == kNoError; ++db)
      if (content_.keyspace[db].Size() > 0) WriteDatabase(db);
    out_.Byte(rdb::kEnd);
    out_.Flush();
    out_.Little64(drain_.checksum());
    out_.Flush();
    if (drain_.error() != kNoError) return Failure(drain_.error());
    return RdbSaveResult{drain_.bytes(), keys_};
  }

 private:
  uint16_t Version() const {
    for (int db = 0; db < content_.keyspace.Count(); ++db)
      if (content_.keyspace[db].HashesWithFieldDeadlines().Size() > 0) return rdb::kVersionOfTimedHashes;
    return options_.dialect == RdbDialect::k70 ? rdb::kVersionOf70 : rdb::kVersion;
  }

  void WriteHead() {
    const uint16_t version = Version();
    out_.RawBytes(rdb::kSignature);
    out_.RawBytes("00");
    out_.Byte(static_cast<uint8_t>('0' + version / 10));
    out_.Byte(static_cast<uint8_t>('0' + version % 10));
    for (const auto& [name, value] : content_.aux) {
      out_.Byte(rdb::kAux);
      out_.Text(name);
      out_.Text(value);
    }
  }

  void WriteDatabase(int db) {
    const Database& database = content_.keyspace[db];
    out_.Byte(rdb::kSelectDatabase);
    out_.Length(static_cast<uint64_t>(db));
    out_.Byte(rdb::kResizeDatabase);
    out_.Length(database.Size());
    out_.Length(database.CountKeysWithDeadline());
    database.Entries().ForEachWhile([&](const Entry* entry) {
      WriteKey(*entry);
      return drain_.error() == kNoError;
    });
  }

  // Writes the deadline and the LRU or LFU data, then type, key and value.
  void WriteKey(const Entry& entry) {
    if (entry.Deadline() != kNoDeadline) {
      out_.Byte(rdb::kDeadlineMs);
      out_.Millis(entry.Deadline());
    }
    if (options_.usage != RdbUsage::kNone) WriteUsage(options_.usage_from_access(entry.Access()));
    WriteRdbKeyAndValue(out_, entry);
    if (++keys_ % options_.keys_per_report == 0 && on_progress_) on_progress_(keys_);
  }

  void WriteUsage(uint64_t usage) {
    if (options_.usage == RdbUsage::kIdleSeconds) {
      out_.Byte(rdb::kIdleSeconds);
      out_.Length(usage);
    } else {
      out_.Byte(rdb::kFrequency);
      out_.Byte(static_cast<uint8_t>(usage));
    }
  }

  const RdbContent& content_;
  const RdbSaveOptions& options_;
  const std::function<void(uint64_t keys)>& on_progress_;
  FileDrain drain_;
  RdbOutput out_;
  uint64_t keys_ = 0;
};

}  // namespace

Result<RdbSaveResult, IoError> WriteRdb(File& file, const RdbContent& content, const RdbSaveOptions& options,
                                        const std::function<void(uint64_t keys)>& on_progress) {
  return Writer(file, content, options, on_progress).Write();
}

}  // namespace respite
