// RequestParser: bytes of one client -> requests, as views into the buffer they arrived in.
//
// The steps of a read:
//   1. The caller asks `ReadTarget(scratch)` where to read the next bytes. The target is the caller's scratch buffer
//   for
//      a client with little pending, the parser's own buffer if much of a request has arrived or requests wait, and
//      the final Blob while an argument of kBigArgument bytes or more is arriving: up to kAnnouncedRoom it is never
//      copied; beyond that its room grows with the bytes that have arrived, whatever size was announced.
//   2. `Received(n)`.
//   3. `ParseInto(batch)` until it no longer returns kRequest; the batch's views are valid until step 4.
//   4. `SaveRest()` saves what is left of the scratch buffer. An idle client keeps no memory.
//
// Parsing resumes where it stopped, so a request that arrives in many pieces costs no more than one that arrives whole.
// Formats: RESP arrays of bulk strings, and inline commands (one line, words quoted as in redis.conf).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/blob.h"
#include "base/bytes.h"

namespace respite {

// Requests parsed ahead of their execution. It is reused for each read, so it soon stops allocating; memory that one
// huge request took is freed.
struct RequestBatch {
  struct Request {
    size_t first_word;
    size_t words;
    size_t offset;  // where it began in the input, for Unread
  };

  std::vector<Bytes> words;
  std::vector<Request> requests;
  std::vector<BlobRef> blobs;            // own the big arguments among `words`
  std::deque<std::string> inline_words;  // own the words of inline commands

  std::span<const Bytes> Words(const Request& request) const { return {&words[request.first_word], request.words}; }
  void Clear() {
    constexpr size_t kKeptWords = 16 * 1024;
    words.clear();
    if (words.capacity() > kKeptWords) words.shrink_to_fit();
    requests.clear();
    blobs.clear();
    inline_words.clear();
  }
};

struct RequestLimits {
  int64_t max_bulk_bytes = 512ll << 20;
  bool authenticated = true;  // before that, a client can make the server hold at most 10 arguments of 16 KB
};

class RequestParser {
 public:
  struct NumberKind;  // a count or a size, with the error texts of Redis
  enum class Status { kRequest, kIncomplete, kError };

  static constexpr size_t kBigArgument = 32 * 1024;
  static constexpr size_t kAnnouncedRoom = 1024 * 1024;
  static constexpr size_t kInlineMax = 64 * 1024;

  // Returns at least one byte of room. `scratch` belongs to the parser from Received to SaveRest.
  std::span<char> ReadTarget(std::span<char> scratch);
  // Tells that the first `n` bytes of the last ReadTarget were filled.
  void Received(size_t n);
  // Appends the next complete request to the batch. kError: Error() is Redis' text; the client must be disconnected.
  Status ParseInto(RequestBatch& batch, const RequestLimits& limits);
  // Cost: O(1) per byte received, however small the pieces in which a long input is parsed, and for each read a copy of
  // up to 4 KB of pending bytes.
  void SaveRest();
  // Returns the requests of the batch from `index` on to the parser: the next ParseInto parses them again. Requires:
  // not parked since then, and none of them began in an earlier read, so that the window still has all of their bytes.
  void Unread(const RequestBatch& batch, size_t index);

  // Frees memory that was reserved for a client which stopped in the middle of a request. Call it between reads. Cost:
  // O(bytes that have arrived).
  void Shrink();

  const std::string& Error() const { return error_; }
  // Bytes received and not yet turned into requests, and the memory held for them.
  size_t PendingBytes() const { return size_ - begin_ + big_filled_ - big_in_window_; }
  // The same, if the requests of the batch from `index` on had not been parsed. Requires: as Unread.
  size_t PendingBytesFrom(const RequestBatch& batch, size_t index) const {
    return size_ - batch.requests[index].offset + big_filled_ - big_in_window_;
  }
  // What Redis calls the query buffer: PendingBytes without the parsed part of an incomplete request, and while a batch
  // is in use, plus the bytes of its requests.
  size_t BufferedBytes() const { return size_ - parked_ + big_filled_ - big_in_window_; }
  // Bytes of the complete arguments of the incomplete request.
  size_t PendingArgumentBytes() const;
  // The incomplete request, without its big arguments. Valid as long as Unparsed.
  Bytes Pending() const { return {data_ + begin_, size_ - begin_}; }
  // The unparsed rest; after kError it begins with the error. Valid until the next call of a non-const function.
  Bytes Unparsed() const { return {data_ + pos_, size_ - pos_}; }
  size_t HeldBytes() const;

 private:
  // A complete argument of an incomplete request, between two reads: bytes of the window or a Blob.
  struct Argument {
    size_t offset;  // from the start of the request, or index into blobs_
    size_t size;
    bool is_blob;
  };
  struct Number {
    Status status;
    int64_t value;
  };

  Status ParseRequest(RequestBatch& batch, const RequestLimits& limits);
  Status ParseMultibulk(RequestBatch& batch, const RequestLimits& limits);
  Status ParseInline(RequestBatch& batch);
  Status ParseCount(const RequestLimits& limits);
  Status ParseArgument(RequestBatch& batch, const RequestLimits& limits);
  Status ParseBulkSize(const RequestLimits& limits);
  void MoveToScratch();
  void StartBigArgument();
  // Includes the line end.
  size_t BigArgumentBytes() const { return static_cast<size_t>(bulk_size_) + 2; }
  // A Blob with room for the arriving argument, as much as `arrived` bytes of it justify.
  BlobRef RoomForBigArgument(size_t arrived) const;
  void GrowBigArgument();
  Status FinishBigArgument(RequestBatch& batch);
  void RestoreBigArgument();
  // Keeps the words of an unfinished request as offsets between two reads, because the window moves.
  void Save(RequestBatch& batch, size_t first_word);
  void Restore(RequestBatch& batch);
  Status Fail(std::string text);
  // Steps over "<kind><number>\r\n" at pos_.
  Number TakeNumber(const NumberKind& kind);
  Number TakeNumberSlowly(const NumberKind& kind);

  const char* data_ = nullptr;  // window: scratch or own_
  size_t size_ = 0;
  size_t begin_ = 0;   // where the current request begins
  size_t pos_ = 0;     // parsed up to here
  size_t parked_ = 0;  // bytes at the front that were already parsed when the window was parked
  bool in_scratch_ = false;
  char* scratch_ = nullptr;   // the last ReadTarget was there
  bool reading_big_ = false;  // the last ReadTarget was the Blob

  int64_t arguments_left_ = -1;  // -1: the count has not been read
  int64_t bulk_size_ = -1;       // -1: the size of the next argument has not been read
  std::vector<Argument> saved_;
  size_t saved_blobs_ = 0;  // how many of saved_ are Blobs
  std::vector<BlobRef> blobs_;
  std::vector<char> big_parked_;  // the bytes of the last Blob that have arrived, while it is shrunk
  bool big_shrunk_ = false;       // Shrink freed the last Blob
  bool big_open_ = false;         // the last of blobs_ is still arriving
  size_t big_filled_ = 0;         // how many of its bytes have arrived
  size_t big_in_window_ = 0;      // how many of these are also at the end of the window, until it is parked

  std::vector<char> own_;
  std::string error_;
};

}  // namespace respite
