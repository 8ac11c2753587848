// RdbItemReader: reads the items of an RDB one after the other: head, keys, auxiliary fields, checksum. Where the
// bytes come from is the matter of rdb_file_reader.cc (a file) and rdb_receiver.cc (pieces that arrive).
//
// An item that the input does not contain whole fails with the input, and changes nothing here: with an input that
// begins where the item does and has more, it can be read again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "persistence/rdb_file_reader.h"
#include "persistence/rdb_input.h"

namespace respite {

struct RdbValueFault;

// What only the owner of the input knows.
class RdbItemSource {
 public:
  virtual ~RdbItemSource() = default;
  // Of everything in front of `rest`, the unread part of the input.
  virtual uint64_t Checksum(Bytes rest) = 0;
  // Bytes that may follow.
  virtual uint64_t Ahead() const = 0;
};

class RdbItemReader {
 public:
  RdbItemReader(const RdbReadOptions& options, RdbSink& sink, RdbItemSource& source, uint64_t offset);

  // Reads from this input next, which begins at `offset`.
  void Use(RdbInput& input, uint64_t offset) {
    input_ = &input;
    begin_ = offset;
  }
  // Reads one item. False: the input ran out (HasFailed tells), or the RDB is bad. Requires: Use, !IsDone().
  bool Next();
  bool IsDone() const { return stage_ == Stage::kDone; }
  bool HasFailed() const { return failure_.has_value(); }
  // Why it failed; if nothing did, the input ran out.
  RdbFailure TakeFailure();
  uint64_t Offset() const { return begin_ + input_->Offset(); }
  // Calls the sink if it is time. False: the sink stops the reading.
  bool TellProgress(uint64_t at);

 private:
  enum class Stage : uint8_t { kHead, kItems, kChecksum, kDone };

  bool Fail(RdbFailure::Kind kind, std::string text);
  // True while everything that was read existed.
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
  uint64_t announced_ = 0;  // keys for which the sink was told to make room, and which have not come
  std::string key_;
  // For the next key.
  int64_t deadline_ms_ = kNoDeadline;
  std::optional<uint64_t> idle_s_;
  std::optional<uint8_t> frequency_;
  std::vector<RdbEntry> batch_;
  std::optional<RdbFailure> failure_;
};

}  // namespace respite
