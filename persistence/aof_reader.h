// AofReader: the records of an append-only file, as views into what was read of it.
//
//   file       = { annotation | record }
//   annotation = "#" text of up to 1000 octets, line end         e.g. #TS:1700000000; skipped
//   record     = "*" count CRLF { "$" size CRLF octets CRLF }    count from 1 on, sizes below 4 GB
//
// A file that ends inside of this is truncated; whatever stands where it must not is a format error. Redis looks at
// less (numbers may have anything behind them, and what is behind an argument need be no line end); we refuse that,
// since a size that was damaged would give a wrong value now and show later, or never. Redis: half an annotation at the
// end of the file is none to it; here it is a truncated end, since what is written behind it would be taken for a part
// of it.
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

class AofReader {
 public:
  enum class Status : uint8_t {
    kRecords,      // at least one
    kEnd,          // the file ends behind the last record
    kTruncated,    // the file ends inside of what begins at Offset()
    kFormatError,  // what is behind Offset() is no record
    kReadError,    // Error() says why
  };

  // Why the reading ended, and where, after kTruncated and kFormatError. Offsets are in the file.
  struct Fault {
    enum class Kind : uint8_t {
      kNotARecord,  // what begins here is neither a record nor an annotation
      kAnnotation,  // has no end
      kCount,       // a record cannot have so many arguments
      kMark,        // the size of an argument begins with another octet than "$"
      kLineEnd,     // there is no CRLF at `at`
      kSize,        // an argument cannot have `size` octets
      kMissing,     // the file has not the `size` octets and the line end of an argument
    };
    Kind kind = Kind::kNotARecord;
    uint64_t begin = 0;  // of the line or argument
    uint64_t at = 0;     // the first octet that is wrong, or missing
    uint64_t size = 0;
    uint64_t lines = 0;  // line ends of the record before it
  };
  // Hears of an annotation, with its line end, before the record behind it is handed out. May be told the same one
  // more than once.
  using AnnotationListener = std::function<void(uint64_t offset, Bytes line)>;

  static constexpr size_t kMostRecords = 16;
  static constexpr size_t kChunk = size_t{64} * 1024;

  // Borrows the file, which keeps its length meanwhile. A chunk is what is read at once, and the memory that is used as
  // long as records are small; tests make it smaller.
  explicit AofReader(File& file, uint64_t offset = 0, size_t chunk = kChunk);

  // The next records, at most kMostRecords. Their words die with the next call, except for the large arguments that
  // `batch.blobs` keeps: of at least RequestParser::kBigArgument octets, read into their place without a copy.
  // `offset` of a request is where the record before it ends in the file, so annotations belong to what follows.
  // Nothing follows what is not kRecords.
  // Cost: O(octets), about 50 ns for a short SET, reading included.
  Status Next(RequestBatch& batch);

  // Behind the last record that was given.
  uint64_t Offset() const { return offset_; }
  IoError Error() const { return error_; }
  const Fault& LastFault() const { return fault_; }
  void ListenToAnnotations(AnnotationListener listener) { annotation_listener_ = std::move(listener); }

 private:
  enum class Outcome : uint8_t {
    kWhole,
    kNothing,  // there is nothing, or nothing but annotations
    kIncomplete,
    kLargeArgument,
    kFormatError,
  };

  // An argument of the record at begin_ that was read into a place of its own; the buffer has what is before and
  // behind.
  struct Fetched {
    size_t at;  // from begin_ on
    BlobRef blob;
  };

  // Parses the record at begin_; gives its words to the batch and steps over it only if it is whole.
  Outcome ParseRecord(RequestBatch& batch);
  Outcome ParseWords(RequestBatch& batch, size_t pos, uint64_t count);
  // Finds where the record at begin_ begins behind its annotations: at parsed_.
  Outcome SkipAnnotations();
  Outcome Stop(Outcome outcome, Fault::Kind kind, size_t begin, size_t at, uint64_t lines = 0);
  uint64_t FileOffset(size_t pos) const { return offset_ + (pos - begin_) + fetched_octets_; }
  void TakeRecord(RequestBatch& batch, size_t first_word, size_t end);
  // kRecords means that parsing may go on.
  Status ReadOn(Outcome outcome);
  Status FetchLargeArgument();

  File& file_;
  const size_t chunk_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;   // of the record to be parsed next, or of its annotations
  size_t filled_ = 0;  // so much of the buffer has been read
  bool at_end_ = false;
  uint64_t file_offset_;  // behind what has been read
  uint64_t offset_;
  IoError error_ = kNoError;

  std::vector<Fetched> fetched_;
  uint64_t fetched_octets_ = 0;
  size_t parsed_ = 0;        // where the last parse of a record stopped
  uint64_t large_size_ = 0;  // of the argument that begins there, after kLargeArgument
  Fault fault_;              // of the last outcome that is not kWhole
  AnnotationListener annotation_listener_;
};

}  // namespace respite
