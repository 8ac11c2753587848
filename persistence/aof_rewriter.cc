#include "persistence/aof_rewriter.h"

#include "base/number_text.h"
#include "persistence/value_commands.h"

namespace respite {

namespace {

class FileOutput final : public RequestOutput {
 public:
  FileOutput(File& file, GradualSync sync) : writer_(file, sync) {}

  const GradualWriter& writer() const { return writer_; }

 protected:
  void Take(Bytes piece) override { writer_.Write(piece); }

 private:
  GradualWriter writer_;
};

void WriteTimestamp(RequestOutput& out, int64_t timestamp_s) {
  out.Verbatim("#TS:");
  out.Verbatim(IntegerText(timestamp_s));
  out.Verbatim("\r\n");
}

void WriteLibrary(RequestOutput& out, Bytes code) {
  out.Begin(3);
  out.Word("FUNCTION");
  out.Word("LOAD");
  out.Word(code);
}

void WriteSelect(RequestOutput& out, int db) {
  out.Begin(2);
  out.Word("SELECT");
  out.Integer(db);
}

}  // namespace

Result<AofBaseSaveResult, IoError> WriteAofBaseAsCommands(File& file, const Keyspace& keyspace,
                                                          std::span<const Bytes> libraries,
                                                          const AofBaseOptions& options,
                                                          const std::function<void(uint64_t keys)>& on_progress) {
  FileOutput out(file, options.sync);
  uint64_t keys = 0;
  if (options.timestamp_s) WriteTimestamp(out, *options.timestamp_s);
  out.Verbatim(options.prologue);
  for (Bytes code : libraries) WriteLibrary(out, code);
  for (int db = 0; db < keyspace.Count(); ++db) {
    if (keyspace[db].Size() == 0) continue;
    WriteSelect(out, db);
    keyspace[db].Entries().ForEachWhile([&](const Entry* entry) {
      WriteValueCommands(out, *entry);
      if (++keys % options.keys_per_report == 0 && on_progress) on_progress(keys);
      return out.writer().error() == kNoError;
    });
  }
  out.Flush();
  if (out.writer().error() != kNoError) return Failure(out.writer().error());
  return AofBaseSaveResult{out.writer().bytes(), keys};
}

}  // namespace respite
