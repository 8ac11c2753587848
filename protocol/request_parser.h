// RequestParser: turns the bytes of one client into requests, which are views into the buffer that received them.
//
// The steps of a read:
//   1. The caller asks `ReadTarget(scratch)` where to read the next bytes. The target is one of three:
//      - the caller's scratch buffer, if at most 4 KB are pending (not parsed yet), and it has room for more;
//      - the parser's own buffer, if more bytes are pending: the start of a larger request, or requests that wait;
//      - the final Blob, while an argument of kMinBigArgumentBytes or more bytes arrives. Up to kMaxPreallocatedBytes
//        the Blob has its final size and is never copied. Above that its room grows with the bytes that have
//        arrived, whatever size was announced.
//   2. The caller reads, and calls `Received(n)`.
//   3. The caller calls `ParseInto(batch)` until it stops returning kRequest. The views are valid until step 4.
//   4. `SaveRest()` saves the unparsed rest of the scratch buffer. An idle client keeps no memory.
//
// Parsing resumes where it stopped, so a request that arrives in many pieces costs no more than one that arrives whole.
// Formats: RESP arrays of bulk strings, and inline commands (one line, with words quoted as in redis.conf).
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

// A batch is reused for each read, so it soon stops allocating memory. Memory that one huge request took is freed.
struct RequestBatch {            // requests of one client or of an AOF that are parsed, but not executed yet
  struct Request {               // one command with its arguments
    size_t first_word;           // index in RequestBatch::words of the command's name
    size_t words;                // number of words: the command's name and arguments
    size_t offset;               // where the request begins, in the parser's buffer (of AofReader: in the file)
    bool follows_empty = false;  // true: an empty request came directly before (a bare line end, `*0`)
  };

  std::vector<Bytes> words;              // command names and arguments of all requests, one after the other
  std::vector<Request> requests;         // the parsed requests, in order
  std::vector<BlobRef> blobs;            // owns the big arguments among `words`
  std::deque<std::string> inline_words;  // owns the words of inline commands (lines without RESP)

  std::span<const Bytes> Words(const Request& request) const {  // command name and arguments of a request
    return {&words[request.first_word], request.words};
  }
  void Clear() {  // removes all requests from the batch
    constexpr size_t kKeptWords = 16 * 1024;
    words.clear();
    if (words.capacity() > kKeptWords) words.shrink_to_fit();
    requests.clear();
    blobs.clear();
    if (!inline_words.empty()) inline_words.clear();  // the test is faster than the call, and nearly always false
  }
};

struct RequestLimits {                   // how large a request may be; ParseInto fails for larger ones
  int64_t max_bulk_bytes = 512ll << 20;  // maximum size of an argument: proto-max-bulk-len
  bool authenticated = true;             // false: at most 10 arguments of 16 KB are accepted
  bool checks_line_ends = false;         // an argument that CR LF does not follow is an error, as in Valkey 9.1
  bool joins_quoted_parts = false;       // "a"b in an inline request is the word ab, as in Valkey 9.1, not an error

  bool operator==(const RequestLimits&) const = default;
};

class RequestParser {  // parses the bytes that one client sends into requests
 public:
  struct NumberKind;                                    // describes a count or a size, with the error texts of Redis
  enum class Status { kRequest, kIncomplete, kError };  // kIncomplete: more bytes are needed

  static constexpr size_t kMinBigArgumentBytes = 32 * 1024;     // arguments of this size or more arrive in a Blob
  static constexpr size_t kMaxPreallocatedBytes = 1024 * 1024;  // the Blob of a larger argument grows as bytes arrive
  static constexpr size_t kMaxUnfinishedLineBytes = 64 * 1024;  // maximum bytes of a line whose end has not arrived

  // Returns memory for at least one byte: the unused part of `scratch`, or memory of the parser. `scratch` must stay
  // valid and unchanged from this call until SaveRest, except for the bytes that the caller reads into it.
  std::span<char> ReadTarget(std::span<char> scratch);  // returns where the caller must read the next bytes
  void Received(size_t n);  // tells the parser that `n` bytes were read into the last ReadTarget
  // After kError, Error() is Redis' text and the caller must disconnect the client. Empty requests, which get no reply,
  // are not appended: the request after them has `follows_empty`. Cost: O(1) per byte received, even if a long input is
  // parsed in small pieces, except that each read searches an unfinished line (at most 64 KB) again.
  Status ParseInto(RequestBatch& batch, const RequestLimits& limits);  // appends the next complete request to the batch
  // Cost: a copy of up to 4 KB of pending bytes per read, amortized O(1) per byte if there are more.
  void SaveRest();  // after a read was parsed: saves the incomplete rest, frees unused memory
  // Gives back the requests of `batch` from `index` on, and an incomplete request after them. They will be parsed
  // again. `index` may be the number of requests. Requires: SaveRest was not called since the parsing of
  // the first of these requests began. So all of their bytes are still in the buffer that is being parsed.
  void Unread(const RequestBatch& batch, size_t index);  // the requests from `index` on will be parsed again

  // Frees buffers that a stalled client does not need. Call this between reads. Cost: O(bytes that have arrived).
  void Shrink();  // frees unused memory; for a client that has sent nothing for long

  const std::string& Error() const { return error_; }  // the error that the client gets, without "-ERR "
  size_t PendingBytes() const {                        // received bytes after the last parsed request
    return size_ - begin_ + big_argument_arrived_bytes_ - big_argument_bytes_in_data_;
  }
  // Returns how many bytes PendingBytes would count after Unread(batch, index): the bytes of the requests from `index`
  // on, and all received bytes after them. Requires: Unread(batch, index) would be allowed.
  size_t PendingBytesIfUnread(const RequestBatch& batch,  // PendingBytes, as it would be after Unread
                              size_t index) const {
    return size_ - batch.requests[index].offset + big_argument_arrived_bytes_ - big_argument_bytes_in_data_;
  }
  // Returns the size that Redis' query buffer would have: the bytes that were not yet parsed at the last SaveRest, and
  // all bytes that have arrived since.
  size_t BufferedBytes() const {  // size of what Redis calls the client's query buffer
    return size_ - bytes_parsed_earlier_ + big_argument_arrived_bytes_ - big_argument_bytes_in_data_;
  }
  size_t PendingArgumentBytes() const;  // bytes of those arguments of an incomplete request that are complete
  // The view is valid until the next non-const call.
  Bytes PendingRequest() const {  // the arrived bytes of an incomplete request, without its big arguments
    return {data_ + begin_, size_ - begin_};
  }
  // These views are valid until the next non-const call.
  Bytes UnparsedInput() const { return {data_ + pos_, size_ - pos_}; }  // received bytes that are not parsed yet
  // After kError, UnparsedInput begins with the whole request (without big arguments that earlier reads have brought),
  // and InputAtError with the text that caused the error.
  Bytes InputAtError() const { return {data_ + error_pos_, size_ - error_pos_}; }  // received bytes from the error on
  bool HasPassedEmptyRequest() const { return passed_empty_; }  // true: the next request will have `follows_empty`
  size_t HeldBytes() const;                                     // memory of the parser's buffers, in bytes

 private:
  // The bytes of the argument are in the buffer that is being parsed or, for a big argument, in a Blob.
  struct Argument {  // a complete argument of an incomplete request
    size_t offset;   // where the argument begins in the request; if is_blob: the Blob's index in blobs_
    size_t size;
    bool is_blob;  // true: the argument is in blobs_
  };
  struct Number {   // a number of the protocol, such as 5 in "$5", or why it was not read
    Status status;  // kRequest: a number was read; kIncomplete, kError: none was
    int64_t value;  // the number, if the status is kRequest
  };

  Status ParseRequest(RequestBatch& batch,
                      const RequestLimits& limits);  // adds the next request; kRequest even if it is empty
  Status ParseMultibulk(RequestBatch& batch, const RequestLimits& limits);  // parses a RESP array
  Status ParseInline(RequestBatch& batch, const RequestLimits& limits);     // parses a line of words
  Status ParseCount(const RequestLimits& limits);                           // reads "*3", the number of arguments
  Status ParseArgument(RequestBatch& batch, const RequestLimits& limits);   // reads the next argument, a bulk string
  Status ParseBulkSize(const RequestLimits& limits);                        // reads "$5", the size of an argument
  void MoveToScratch();              // copies the start of an incomplete request in front of the bytes just read
  void StartBigArgument();           // creates a Blob for an argument, with what has arrived
  size_t BigArgumentBytes() const {  // bytes of the big argument, with its line end
    return static_cast<size_t>(bulk_size_) + 2;
  }
  // `arrived` is the number of bytes of the argument that have arrived. The room for a large argument is a small
  // multiple of this number, so that a client cannot make the server allocate memory by only announcing a length.
  BlobRef NewBigArgumentBlob(size_t arrived) const;  // returns a Blob with room for the big argument
  void GrowBigArgument();                            // moves the big argument to a larger Blob
  Status FinishBigArgument(RequestBatch& batch,      // adds the big argument to the batch, once complete
                           const RequestLimits& limits);
  void RestoreBigArgument();  // after Shrink: puts the big argument into a Blob again
  // Stores the words of an incomplete request as offsets between two reads, because the buffer may move.
  void Save(RequestBatch& batch, size_t first_word);    // moves words of the batch to saved_arguments_
  void Restore(RequestBatch& batch);                    // moves saved_arguments_ back into the batch
  void Append(RequestBatch& batch, size_t first_word);  // appends the request that has the words from `first_word` on
  void GoBackTo(size_t offset);                         // parses the bytes from `offset` in data_ on again
  Status FailAt(size_t pos, std::string text);          // sets error_pos_ and error_; returns kError
  Number TakeNumber(const NumberKind& kind);            // reads "<kind><number>\r\n" at pos_, such as "$5"
  Number TakeNumberSlowly(const NumberKind& kind);      // does TakeNumber for long, incomplete and wrong numbers

  const char* data_ = nullptr;       // the window: scratch_ or own_
  size_t size_ = 0;                  // number of bytes in the window
  size_t begin_ = 0;                 // where in data_ the request begins that is being parsed
  size_t pos_ = 0;                   // end of the parsed bytes
  size_t bytes_parsed_earlier_ = 0;  // bytes at the front of data_ that BufferedBytes omits: parsed before SaveRest
  bool in_scratch_ = false;          // true: data_ is in the caller's buffer; false: in own_
  char* scratch_ = nullptr;  // the caller's buffer, from ReadTarget until Received; null: own_ or a Blob is used
  bool reading_big_argument_ = false;  // true: ReadTarget last returned memory of a big argument's Blob

  int64_t arguments_left_ = -1;                 // how many arguments of the request are not parsed yet; -1: unknown
  int64_t bulk_size_ = -1;                      // size of the next argument; -1: unknown
  std::vector<Argument> saved_arguments_;       // complete arguments of an incomplete request, between reads
  size_t saved_blob_count_ = 0;                 // how many of saved_arguments_ are Blobs
  std::vector<BlobRef> blobs_;                  // big arguments of the incomplete request; the last may be arriving
  std::vector<char> big_argument_saved_bytes_;  // after Shrink: what has arrived of the last Blob
  bool last_blob_freed_ = false;                // true: Shrink moved the last Blob to big_argument_saved_bytes_
  bool big_argument_is_open_ = false;           // true: the last of blobs_ has not arrived completely
  size_t big_argument_arrived_bytes_ = 0;       // how many bytes of the last Blob have arrived
  size_t big_argument_bytes_in_data_ = 0;       // until SaveRest: bytes of the last Blob that are also in data_

  std::vector<char> own_;      // the parser's own buffer
  bool passed_empty_ = false;  // true: an empty request came directly before the next one
  size_t error_pos_ = 0;       // where in data_ the last error was found
  std::string error_;          // what Error() returns; empty: no error
};

}  // namespace respite
