// RdbItemReader: reads the items of an RDB in order: head, auxiliary fields, keys, checksum. The input is provided by
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
#include "persistence/rdb_types.h"

namespace respite {

struct RdbValueFault;

class RdbInputOwner {  // interface: tells RdbItemReader the checksum, and how much input may follow
 public:
  virtual ~RdbInputOwner() = default;
  virtual uint64_t Checksum(Bytes rest) = 0;   // CRC-64 of all bytes of the RDB before `rest`
  virtual uint64_t MaxBytesAhead() const = 0;  // how many bytes may follow; limits the announced numbers of keys
};

class RdbItemReader {  // reads an RDB item by item (header, key, auxiliary field …), for a sink
 public:
  RdbItemReader(const RdbReadOptions& options, RdbSink& sink, RdbInputOwner& source, uint64_t offset);

  void Use(RdbInput& input, uint64_t offset) {  // sets the input, which begins at this offset of the RDB or file
    input_ = &input;
    begin_ = offset;
  }
  // Requires: Use was called, and !IsDone().
  bool Next();  // reads one item; false: bad or refused by the sink (HasFailed), or the input lacks bytes
  bool IsDone() const { return stage_ == Stage::kDone; }   // true: the whole RDB was read
  bool HasFailed() const { return failure_.has_value(); }  // true: a bad or unreadable RDB, or the sink refused it
  RdbFailure TakeFailure();  // moves out why reading failed; without a reason: "Unexpected EOF"
  uint64_t Offset() const { return begin_ + input_->Offset(); }  // offset in the RDB or file of the next unread byte
  bool ReportProgress(uint64_t at);  // calls the sink's OnProgress(at) if due; false: the sink refused

 private:
  enum class Stage : uint8_t { kHead, kItems, kChecksum, kDone };  // what is read next; kDone: nothing

  bool Fail(RdbFailure::Kind kind, std::string text);  // stores the first failure in failure_; returns false
  // Returns false if the last read from the input has failed. Stores the reason in failure_: the I/O error, or
  // `why_not` for malformed input. Stores nothing if the input only ran out of bytes, because more may arrive.
  bool CheckRdbInput(const char* why_not = "a length or number is malformed");  // false: the input failed
  bool CheckSinkResult(Result<Done> result,  // false: the sink refused; failure_ says why
                       RdbFailure::Kind kind = RdbFailure::Kind::kSink);
  bool ReadHeader();                     // reads signature and version; false: bad, or too few bytes
  bool ReadItem();                       // reads a key or another item; false: bad, or too few bytes
  bool ReadRareItem(uint8_t opcode);     // reads an item that is not about a key; false: bad, or too few bytes
  bool ReadDatabase();                   // reads SELECTDB: the database of the next keys; false: bad, or too few bytes
  bool ReadResizeDb();                   // reads RESIZEDB: how many keys follow; false: bad, or too few bytes
  bool ReadAux();                        // reads an auxiliary field, such as redis-ver; false: bad, or too few bytes
  bool ReadSlotImport();                 // reads slots that Valkey 9 is importing; false: bad, or too few bytes
  bool ReadLibrary();                    // reads the code of a function library; false: bad, or too few bytes
  bool ReadModuleAux();                  // skips what a module stored outside keys; false: bad, or too few bytes
  bool SkipModuleParts();                // skips the parts of a module's data; false: bad, or too few bytes
  bool ReadKey(uint8_t type);            // reads a key and its value; false: bad, or too few bytes
  bool ReadModuleValue();                // reads or skips a value of a module; false: bad, or too few bytes
  bool TakeEntry(RdbValueResult entry);  // adds a key to the batch; false: bad value, or the sink refused the batch
  RdbEntryProperties TargetProperties() const;  // name, deadline and so on of the key that is being read
  // Called if no value could be read: the collection is empty, the value is bad, or bytes are missing.
  bool SkipEmptyOrFail(const RdbValueFault& fault);  // empty: skips the key, true; bad, or too few bytes: false
  void ForgetAttributes();                           // resets deadline, idle time and LFU counter, before the next key
  bool PassBatchToSink();                            // calls OnEntries with batch_; false: the sink refused
  bool ReadChecksum();                               // reads the CRC-64 at the end; false: wrong, or too few bytes

  const RdbReadOptions& options_;                    // how to read the RDB
  RdbSink& sink_;                                    // gets the content
  RdbInputOwner& input_owner_;                       // the owner of input_, which knows checksum and length
  RdbInput* input_ = nullptr;                        // where the next item is read from
  uint64_t begin_;                                   // offset in the RDB or file of the start of input_
  uint64_t next_progress_;                           // offset at which OnProgress is called the next time
  Stage stage_ = Stage::kHead;                       // what comes next: header, items or checksum
  rdb::Dialect dialect_ = rdb::Dialect::kRedis;      // whether type numbers have the meaning of Redis or of Valkey 9
  int version_ = 0;                                  // the RDB version of the file
  int db_ = 0;                                       // database of the next key
  RdbFailure::Step step_ = RdbFailure::Step::kHead;  // what is being read, for failures
  uint8_t type_ = 0;                                 // RDB type of the value of key_
  uint64_t announced_keys_ = 0;                      // how many keys RESIZEDB has announced that were not read yet
  std::string key_;                                  // the key that is being read
  int64_t deadline_ms_ = kNoDeadline;                // deadline of the next key, Unix ms or kNoDeadline
  std::optional<uint64_t> idle_s_;                   // how long the next key was not used, in s; nullopt: unknown
  std::optional<uint8_t> frequency_;                 // LFU counter of the next key; nullopt: unknown
  std::vector<RdbEntry> batch_;                      // keys that were read, for the next call of OnEntries
  std::optional<RdbFailure> failure_;                // why reading failed; nullopt: no failure, or too few bytes
};

}  // namespace respite
