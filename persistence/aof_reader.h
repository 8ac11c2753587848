// AofReader: reads the records of an append-only file as views into a buffer.
//
//   file       = { annotation | record }
//   annotation = "#" text, line end; at most 1024 bytes         e.g. #TS:1700000000; skipped, see aof_annotation
//   record     = "*" count CRLF { "$" size CRLF bytes CRLF }    count at least 1, sizes below 4 GB
//
// A file that ends inside an annotation or a record is truncated; any other deviation is a format error. Redis checks
// less: it accepts any text after a number, and any two bytes after an argument. Respite refuses such files, because a
// damaged size would give a wrong value that is noticed later or never. Redis also accepts half an annotation at the
// end of the file. Respite treats such a file as truncated, because the next record would become part of the
// annotation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/blob.h"
#include "base/bytes.h"
#include "persistence/file_system.h"
#include "protocol/request_parser.h"

namespace respite {

// The annotation that Respite knows. A number and CRLF follow.
namespace aof_annotation {
inline constexpr Bytes kTimestamp = "#TS:";  // Unix time in s of the next record, as Redis writes it
}  // namespace aof_annotation

// Returns the number of an annotation, whose text is `line` with its line end. Returns nullopt if the line does not
// begin with `mark`, or has no valid number.
std::optional<int64_t> NumberInAnnotation(Bytes line, Bytes mark);  // the number after `mark`; nullopt: there is none

class AofReader {  // reads records (requests) of an append-only file, as views into a buffer
 public:
  enum class Status : uint8_t {
    kRecords,      // at least one record was read
    kEnd,          // the file ends after the last record
    kTruncated,    // the file ends inside the annotation or record that begins at Offset()
    kFormatError,  // there is no record or annotation at Offset()
    kReadError,    // see Error()
  };

  struct Fault {  // what is wrong with the file, and where; offsets count from its start
    enum class Kind : uint8_t {
      kNotARecord,  // no record or annotation begins here
      kAnnotation,  // an annotation has no end
      kCount,       // the number of arguments is impossible
      kMark,        // the size of an argument does not begin with "$"
      kLineEnd,     // there is no CRLF at `at`
      kSize,        // `size` is impossible for an argument
      kMissing,     // the file lacks some of the `size` bytes or of the line end of an argument
    };
    Kind kind = Kind::kNotARecord;
    uint64_t begin = 0;       // offset of the faulty line or argument
    uint64_t at = 0;          // the first byte that is wrong or missing
    uint64_t size = 0;        // the announced size of an argument, for kSize and kMissing
    uint64_t line_count = 0;  // how many lines of the damaged record come before `begin`
  };
  // A function that is called with each annotation, including the line end, before Next returns the record after the
  // annotation. The function may be called more than once for one annotation.
  using AnnotationListener = std::function<void(uint64_t offset, Bytes line)>;

  static constexpr size_t kMaxRecordsPerCall = 16;          // maximum number of records per call of Next
  static constexpr size_t kChunkBytes = size_t{64} * 1024;  // bytes per read of the file

  // Borrows the file, whose length must not change while it is read. `chunk_bytes` is the number of bytes per read, and
  // the size of the buffer while records are small. Tests use smaller chunks.
  explicit AofReader(File& file, uint64_t offset = 0, size_t chunk_bytes = kChunkBytes);

  // Reads the next records, at most kMaxRecordsPerCall. The words in `batch` are valid until the next call. A big
  // argument (at least RequestParser::kMinBigArgumentBytes bytes) may be read directly into a Blob, which `batch.blobs`
  // keeps alive. The `offset` of a request is where the record before it ends; annotations (#TS:…) between the two
  // belong to the request. Any status other than kRecords is final. Cost: O(bytes), about 50 ns for a short SET,
  // including the read.
  Status Next(RequestBatch& batch);  // reads up to 16 records into `batch`; the words are valid until the next call

  uint64_t Offset() const { return offset_; }        // where in the file the last returned record ends
  IoError Error() const { return error_; }           // why the file could not be read, after kReadError
  const Fault& LastFault() const { return fault_; }  // what is wrong with the file, after kTruncated or kFormatError
  void ListenToAnnotations(AnnotationListener listener) {  // Next calls `listener` with each annotation
    annotation_listener_ = std::move(listener);
  }

 private:
  enum class Outcome : uint8_t {  // the result of parsing a record in buffer_
    kWhole,                       // the whole record was parsed
    kNothing,                     // buffer_ has nothing, or only annotations
    kIncomplete,                  // buffer_ lacks the end of the record
    kLargeArgument,               // buffer_ lacks the end of a large argument, which FetchLargeArgument must read
    kFormatError,
  };

  struct FetchedArgument {  // a large argument of the next record, read into its own Blob
    size_t at;              // where in buffer_ the argument belongs: its distance from begin_
    BlobRef blob;           // the bytes of the argument
  };

  Outcome ParseRecord(RequestBatch& batch);  // adds the record at begin_ to the batch, if the buffer has all of it
  Outcome ParseRecordArguments(RequestBatch& batch, size_t pos, uint64_t count);  // adds `count` arguments, from `pos`
  Outcome ReadAnnotations();  // passes annotations at begin_ to the listener; parsed_ becomes their end
  // Stores the fault in fault_, with the positions `begin` and `at` converted from indexes in buffer_ to offsets in the
  // file. Returns `outcome`.
  Outcome Stop(Outcome outcome, Fault::Kind kind, size_t begin, size_t at, uint64_t lines = 0);  // sets fault_
  uint64_t FileOffset(size_t pos) const {  // the offset in the file of buffer_[pos]
    return offset_ + (pos - begin_) + fetched_bytes_;
  }
  void AddRecord(RequestBatch& batch, size_t first_word, size_t end);  // adds the parsed record; begin_ becomes `end`
  // Reads more of the file into the buffer, after a parse has run out of bytes with the result `outcome`. Returns
  // kRecords if the caller should parse again. At the end of the file, returns kEnd if `outcome` is kNothing, otherwise
  // kTruncated.
  Status ReadNextChunk(Outcome outcome);  // reads more of the file; kRecords: the caller must parse again
  Status FetchLargeArgument();            // reads the argument at parsed_ into a Blob; kRecords: parse again

  File& file_;                      // the append-only file
  const size_t chunk_bytes_;        // bytes per read of the file
  std::unique_ptr<char[]> buffer_;  // holds the part of the file that is being parsed
  size_t capacity_ = 0;             // allocated bytes of buffer_
  size_t begin_ = 0;                // where in buffer_ the next record begins, with its annotations
  size_t filled_ = 0;               // where the content of buffer_ ends
  bool at_end_ = false;             // true: all bytes of the file have been read
  uint64_t file_offset_;            // offset in the file of the next byte to read
  uint64_t offset_;                 // where in the file the last returned record ends
  IoError error_ = kNoError;        // why the last read of the file failed; kNoError: no read failed

  std::vector<FetchedArgument> fetched_arguments_;  // large arguments of the next record, each in its own Blob
  uint64_t fetched_bytes_ = 0;   // bytes of the next record that went to fetched_arguments_ instead of buffer_
  size_t parsed_ = 0;            // where in buffer_ parsing stopped
  uint64_t announced_size_ = 0;  // size in the last "$<size>" line whose argument buffer_ lacks
  Fault fault_;                  // the fault of the file at which reading stopped
  AnnotationListener annotation_listener_;  // called with each annotation, such as "#TS:…"; may be null
};

}  // namespace respite
