// RdbItemReader: reads the items of an RDB in order: head, keys, auxiliary fields, checksum. The input is provided by
// rdb_file_reader.cc (a file) or rdb_receiver.cc (pieces that arrive from a peer).
//
// If the input ends inside an item, the item fails and changes nothing here. The item can be read again from an input
// that begins at the same position and has more bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "persistence/rdb_input.h"
#include "persistence/rdb_sink.h"

namespace respite {

struct RdbValueFault;

// Values that only the owner of the input knows.
class RdbItemSource {
 public:
  virtual ~RdbItemSource() = default;
  // Returns the checksum of all bytes before `rest`, the unread part of the input.
  virtual uint64_t Checksum(Bytes rest) = 0;
  // Returns the number of bytes that may follow.
  virtual uint64_t Ahead() const = 0;
};

class RdbItemReader {
 public:
  RdbItemReader(const RdbReadOptions& options, RdbSink& sink, RdbItemSource& source, uint64_t offset);

  // Sets the input of the next reads. The input begins at `offset` of the RDB or file.
  void Use(RdbInput& input, uint64_t offset) {
    input_ = &input;
    begin_ = offset;
  }
  // Reads one item. Returns false if the RDB is bad (HasFailed is then true) or the input ran out. Requires: Use,
  // !IsDone().
  bool Next();
  bool IsDone() const { return stage_ == Stage::kDone; }
  bool HasFailed() const { return failure_.has_value(); }
  // Returns the failure. If there is none, the input ran out, which this reports as a failure.
  RdbFailure TakeFailure();
  uint64_t Offset() const { return begin_ + input_->Offset(); }
  // Calls OnProgress if the interval has passed. Returns false if the sink stops the reading.
  bool TellProgress(uint64_t at);

 private:
  enum class Stage : uint8_t { kHead, kItems, kChecksum, kDone };

  bool Fail(RdbFailure::Kind kind, std::string text);
  // Returns true if the input has not failed. Otherwise returns false, and records a failure unless the input ran out.
  bool InputIsGood(const char* why_not = "a length or number is malformed");
  bool SinkIsGood(Result<Done> result, RdbFailure::Kind kind = RdbFailure::Kind::kSink);
  bool ReadHead();
  bool ReadItem();
  bool ReadRareItem(uint8_t opcode);
  bool ReadDatabase();
  bool ReadSizes();
  bool ReadAux();
  bool ReadLibrary();
  bool ReadModuleAux();
  bool SkipModuleParts();
  bool ReadKey(uint8_t type);
  bool ReadModuleValue();
  bool FailOrSkip(const RdbValueFault& fault);
  void ForgetAttributes();
  // Passes the batch to the sink.
  bool PassOn();
  bool ReadChecksum();

  const RdbReadOptions& options_;
  RdbSink& sink_;
  RdbItemSource& source_;
  RdbInput* input_ = nullptr;
  uint64_t begin_;
  uint64_t next_progress_;
  Stage stage_ = Stage::kHead;
  int version_ = 0;
  int db_ = 0;
  RdbFailure::Step step_ = RdbFailure::Step::kHead;
  uint8_t type_ = 0;
  uint64_t announced_ = 0;  // keys that were announced to the sink and have not been read yet
  std::string key_;
  // Attributes of the next key.
  int64_t deadline_ms_ = kNoDeadline;
  std::optional<uint64_t> idle_s_;
  std::optional<uint8_t> frequency_;
  std::vector<RdbEntry> batch_;
  std::optional<RdbFailure> failure_;
};

}  // namespace respite
