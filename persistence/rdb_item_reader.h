// RdbItemReader: reads the items of an RDB in order: head, keys, auxiliary fields, checksum. The input is provided by
// rdb_file_reader.cc (a file) or rdb_receiver.cc (pieces that arrive from a peer).
//
// If the input ends inside an item, Next returns false and the state of the reader stays as it was before the item. The
// item can be read again from an input that begins at the same position and has more bytes.
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

class RdbInputOwner {  // an interface to the owner of the input of an RdbItemReader
 public:
  virtual ~RdbInputOwner() = default;
  virtual uint64_t Checksum(Bytes rest) = 0;   // CRC-64 of all bytes before `rest`, the unread part
  virtual uint64_t MaxBytesAhead() const = 0;  // upper limit of the bytes that follow, to limit announced key counts
};

class RdbItemReader {  // reads an RDB item by item: header, keys, auxiliary fields, checksum
 public:
  RdbItemReader(const RdbReadOptions& options, RdbSink& sink, RdbInputOwner& source, uint64_t offset);

  // Sets the input of the next reads. `offset` is the position in the RDB or file where the input begins.
  void Use(RdbInput& input, uint64_t offset) {  // sets the input of the next reads, at this offset
    input_ = &input;
    begin_ = offset;
  }
  // Reads one item. Returns false if the RDB is bad (HasFailed is then true) or the input ran out. Requires: Use was
  // called, and !IsDone().
  bool Next();  // reads one item; false: the RDB is bad (HasFailed), or the input lacks bytes
  bool IsDone() const { return stage_ == Stage::kDone; }   // the whole RDB was read
  bool HasFailed() const { return failure_.has_value(); }  // the RDB is bad
  RdbFailure TakeFailure();  // moves out why reading failed; "Unexpected EOF" if nothing was recorded
  uint64_t Offset() const { return begin_ + input_->Offset(); }  // position in the RDB or file
  bool ReportProgress(uint64_t at);  // calls the sink's OnProgress if it is due; false: the sink wants to stop

 private:
  enum class Stage : uint8_t { kHead, kItems, kChecksum, kDone };

  // Records a failure, and returns false.
  bool Fail(RdbFailure::Kind kind, std::string text);  // records the failure; returns false
  // Returns true if the input has not failed. Otherwise returns false, and records a failure unless the input ran out.
  bool CheckRdbInput(const char* why_not = "a length or number is malformed");  // false: the input has failed
  bool CheckSinkResult(Result<Done> result, RdbFailure::Kind kind = RdbFailure::Kind::kSink);  // false: sink failed
  bool ReadHeader();                  // reads signature and version; false: bad, or too few bytes
  bool ReadItem();                    // reads a key, or any other item by its opcode; false: bad, or too few bytes
  bool ReadRareItem(uint8_t opcode);  // reads any item but a key and its attributes; false: bad, or too few bytes
  bool ReadDatabase();         // reads opcode SELECTDB, the database of the next keys; false: bad, or too few bytes
  bool ReadResizeDb();         // reads opcode RESIZEDB, the numbers of keys; false: bad, or too few bytes
  bool ReadAux();              // reads a property of the file, such as redis-ver; false: bad, or too few bytes
  bool ReadLibrary();          // reads the code of a function library; false: bad, or too few bytes
  bool ReadModuleAux();        // reads past data that a module stores outside keys; false: bad, or too few bytes
  bool SkipModuleParts();      // reads past the data of a module; false: bad, or too few bytes
  bool ReadKey(uint8_t type);  // reads the key and its value; false: bad, or too few bytes
  bool ReadModuleValue();      // reads past a value that belongs to a module; false: bad, or too few bytes
  bool FailOrSkip(const RdbValueFault& fault);  // skips an empty collection (true), or fails (false)
  void ForgetAttributes();                      // resets deadline, idle time and LFU counter, for the next key
  bool PassBatchToSink();                       // gives the keys of batch_ to the sink; false: the sink refused them
  bool ReadChecksum();                          // reads the CRC-64 at the end; false: wrong, or too few bytes

  const RdbReadOptions& options_;                    // how to read the RDB
  RdbSink& sink_;                                    // gets the content
  RdbInputOwner& source_;                            // the owner of the input
  RdbInput* input_ = nullptr;                        // the input of the next reads
  uint64_t begin_;                                   // position in the RDB or file where input_ begins
  uint64_t next_progress_;                           // offset at which OnProgress is called next
  Stage stage_ = Stage::kHead;                       // which part of the RDB comes next
  int version_ = 0;                                  // version of the RDB format
  int db_ = 0;                                       // database of the next key
  RdbFailure::Step step_ = RdbFailure::Step::kHead;  // what is being read, for failures
  uint8_t type_ = 0;                                 // RDB type of the value of key_
  uint64_t announced_keys_ = 0;                      // keys that were announced to the sink and have not been read yet
  std::string key_;                                  // the key that is being read
  int64_t deadline_ms_ = kNoDeadline;                // Unix time at which the next key expires
  std::optional<uint64_t> idle_s_;                   // seconds since the last use of the next key
  std::optional<uint8_t> frequency_;                 // LFU counter of the next key
  std::vector<RdbEntry> batch_;                      // keys for the next call of OnEntries
  std::optional<RdbFailure> failure_;                // empty: no error; the input may have run out
};

}  // namespace respite
