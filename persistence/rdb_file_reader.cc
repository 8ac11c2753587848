#include "persistence/rdb_file_reader.h"

#include "persistence/rdb_item_reader.h"
#include "persistence/rdb_supply.h"

namespace respite {

namespace {

class FileReader final : public RdbInputOwner {
 public:
  FileReader(File& file, uint64_t offset, const RdbReadOptions& options, RdbSink& sink)
      : begin_(offset),
        items_(options, sink, *this, offset),
        supply_(file, offset, options.piece_bytes,
                options.checksum == RdbReadOptions::Checksum::kVerify ? SupplyChecksum::kCrc64 : SupplyChecksum::kNone,
                [this](uint64_t at) { return items_.ReportProgress(at); }),
        input_(supply_) {
    items_.Use(input_, offset);
  }

  Result<uint64_t, RdbFailure> Read() {
    const IoError error = supply_.Open();
    if (error != kNoError) return Failure(RdbFailure{RdbFailure::Kind::kIo, IoErrorText(error), begin_});
    while (!items_.IsDone())
      if (!items_.Next()) return Failure(items_.TakeFailure());
    return items_.Offset();
  }

  // The functions of RdbInputOwner.
  uint64_t Checksum(Bytes rest) override { return supply_.Checksum(rest); }
  uint64_t MaxBytesAhead() const override { return input_.Left(); }

 private:
  const uint64_t begin_;
  RdbItemReader items_;
  RdbFileSupply supply_;
  RdbInput input_;
};

}  // namespace

Result<uint64_t, RdbFailure> ReadRdb(File& file, uint64_t offset, const RdbReadOptions& options, RdbSink& sink) {
  return FileReader(file, offset, options, sink).Read();
}

}  // namespace respite
