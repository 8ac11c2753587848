// AofReader: reads the records of an append-only file as views into a buffer.
//
//   file       = { annotation | record }
//   annotation = "#" text, line end; at most 1024 bytes         e.g. #TS:1700000000; skipped
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
#include <span>
#include <vector>

#include "base/blob.h"
#include "persistence/file_system.h"
#include "protocol/request_parser.h"

namespace respite {

class AofReader {  // reads the records of an append-only file as views into a buffer
 public:
  enum class Status : uint8_t {
    kRecords,      // at least one record was read
    kEnd,          // the file ends after the last record
    kTruncated,    // the file ends inside the annotation or record that begins at Offset()
    kFormatError,  // there is no record or annotation at Offset()
    kReadError,    // see Error()
  };

  struct Fault {  // why and where reading stopped; offsets are positions in the file
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
    uint64_t begin = 0;       // where the faulty line or argument begins
    uint64_t at = 0;          // the first byte that is wrong or missing
    uint64_t size = 0;        // the announced size of an argument, for kSize and kMissing
    uint64_t line_count = 0;  // number of line ends between the start of the record and `begin`
  };
  // A function that is called with each annotation, including the line end, before Next returns the record after the
  // annotation. It may be called more than once for one annotation.
  using AnnotationListener = std::function<void(uint64_t offset, Bytes line)>;

  static constexpr size_t kMaxRecordsPerCall = 16;     // maximum number of records per call of Next
  static constexpr size_t kChunk = size_t{64} * 1024;  // bytes per read of the file

  // Borrows the file, whose length must not change while it is read. `chunk` is the number of bytes per read, and the
  // size of the buffer while records are small. Tests use smaller chunks.
  explicit AofReader(File& file, uint64_t offset = 0, size_t chunk = kChunk);

  // Reads the next records, at most kMaxRecordsPerCall. Their words are valid until the next call. An argument of at
  // least RequestParser::kMinBigArgumentBytes bytes may be read directly into a Blob, which `batch.blobs` keeps. The
  // `offset` of a request is the end of the previous record in the file, so annotations belong to the record after
  // them. Any status other than kRecords is final. Cost: O(bytes), about 50 ns for a short SET, including the read.
  Status Next(RequestBatch& batch);  // reads up to 16 records into `batch`; the words are valid until the next call

  uint64_t Offset() const { return offset_; }              // where the last returned record ends in the file
  IoError Error() const { return error_; }                 // why reading failed, after kReadError
  const Fault& LastFault() const { return fault_; }        // what is wrong, after kTruncated or kFormatError
  void ListenToAnnotations(AnnotationListener listener) {  // `listener` gets each "#TS:…" line before its record
    annotation_listener_ = std::move(listener);
  }

 private:
  enum class Outcome : uint8_t {
    kWhole,
    kNothing,  // nothing, or only annotations
    kIncomplete,
    kLargeArgument,
    kFormatError,
  };

  // A large argument of the record at begin_, in its own Blob. The other arguments of the record are in the buffer.
  struct FetchedArgument {  // a large argument of the record at begin_
    size_t at;              // where the argument belongs in the record, relative to begin_
    BlobRef blob;           // the bytes of the argument
  };

  // Parses the record at begin_. If it is complete, adds its words to the batch and advances begin_.
  Outcome ParseRecord(RequestBatch& batch);  // adds the record at begin_ to the batch, if it is complete in the buffer
  Outcome ParseRecordArguments(RequestBatch& batch, size_t pos, uint64_t count);  // adds the record's arguments
  // Skips the annotations that begin at begin_, and sets parsed_ to the start of the record after them.
  Outcome SkipAnnotations();  // passes "#TS:…" lines to the listener; sets parsed_ after them
  Outcome Stop(Outcome outcome, Fault::Kind kind, size_t begin, size_t at, uint64_t lines = 0);  // sets fault_
  uint64_t FileOffset(size_t pos) const {  // the position of buffer_[pos] in the file
    return offset_ + (pos - begin_) + fetched_bytes_;
  }
  void TakeRecord(RequestBatch& batch, size_t first_word, size_t end);  // adds a parsed record to the batch
  // Reads more of the file into the buffer. Returns kRecords if the caller should parse again. `outcome` is the result
  // of the parse that ran out of bytes. At the end of the file, kNothing leads to kEnd, and any other outcome to
  // kTruncated.
  Status ReadNextChunk(Outcome outcome);  // reads more bytes into the buffer; kRecords: parse again
  Status FetchLargeArgument();            // reads the argument at parsed_ into its own Blob; kRecords: parse again

  File& file_;                      // the append-only file
  const size_t chunk_;              // bytes per read
  std::unique_ptr<char[]> buffer_;  // the bytes of the file that are being parsed
  size_t capacity_ = 0;             // size of buffer_ in bytes
  size_t begin_ = 0;                // position in buffer_ of the next record or of its annotations
  size_t filled_ = 0;               // number of filled bytes in the buffer
  bool at_end_ = false;             // the file has no more bytes
  uint64_t file_offset_;            // position in the file up to which it was read
  uint64_t offset_;                 // position in the file where the last returned record ends
  IoError error_ = kNoError;        // why the last read of the file failed

  std::vector<FetchedArgument> fetched_arguments_;  // large arguments of the record at begin_, in their own Blobs
  uint64_t fetched_bytes_ = 0;                      // how many bytes of the file fetched_arguments_ take
  size_t parsed_ = 0;                               // position in buffer_ where the last parse of a record stopped
  uint64_t large_size_ = 0;                         // after kLargeArgument, the size of the argument at parsed_
  Fault fault_;                                     // describes the last outcome other than kWhole
  AnnotationListener annotation_listener_;          // gets the "#TS:…" lines; null: none does
};

}  // namespace respite
