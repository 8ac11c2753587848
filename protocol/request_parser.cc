#include "protocol/request_parser.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "base/number_text.h"

namespace respite {

namespace {

constexpr size_t kReadAtLeast = 16 * 1024;
// The maximum number of pending bytes that are moved to the scratch buffer, in front of the bytes that are read next.
// So a client that has sent half a request needs memory only for the pending bytes, even if there are thousands of such
// clients. More bytes are not moved, since each small read would copy them again.
constexpr size_t kMovedAtMost = 4 * 1024;
constexpr int64_t kUnauthenticatedArguments = 10;
constexpr int64_t kUnauthenticatedBulk = 16384;
// Counts and sizes of at most this many digits, which is nearly all of them, are read without searching for the line
// end first. TakeNumberSlowly reads the others.
constexpr ptrdiff_t kFewDigits = 6;
constexpr int64_t kUnusual = -1;

// Reads "<mark><number>\r\n" at `at`, advances `at` and returns the number. If there is no such text with few digits
// before `end`, returns kUnusual and leaves `at` unchanged. Numbers of one or two digits, which are the most frequent,
// need no loop.
[[gnu::always_inline]] inline int64_t TakeShortNumber(const char*& at, const char* end, char mark) {
  constexpr ptrdiff_t kShortest = 4;  // "*1\r\n"
  if (end - at < kShortest || at[0] != mark) return kUnusual;
  const unsigned first = static_cast<unsigned char>(at[1]) - '0';
  if (at[2] == '\r') {
    if (first > 9) return kUnusual;
    at += kShortest;
    return first;
  }
  const unsigned second = static_cast<unsigned char>(at[2]) - '0';
  if (first - 1 > 8 || second > 9 || end - at == kShortest) return kUnusual;
  int64_t value = 10 * first + second;
  const char* digit = at + 3;
  const char* const last = at + 1 + std::min(kFewDigits, end - at - 3);
  for (; digit < last && IsDigit(*digit); ++digit) value = value * 10 + (*digit - '0');
  if (*digit != '\r') return kUnusual;
  at = digit + 2;
  return value;
}

constexpr char kInvalidLineEnd[] = "Protocol error: invalid CRLF in request";
bool IsLineEnd(const char* at) { return at[0] == '\r' && at[1] == '\n'; }

// Parses a usual request: one that has arrived whole, has no big argument, and has line ends that `limits` permit.
// Appends its words and returns its end. For any other request, returns null and appends nothing.
const char* TakeUsual(const char* at, const char* end, const RequestLimits& limits, std::vector<Bytes>& words) {
  const int64_t max_argument =
      std::min<int64_t>(limits.max_bulk_bytes, int64_t{RequestParser::kMinBigArgumentBytes} - 1);
  const size_t first_word = words.size();
  int64_t left = TakeShortNumber(at, end, '*');
  if (left == 0) return nullptr;
  for (; left > 0; --left) {
    const int64_t size = TakeShortNumber(at, end, '$');
    if (size < 0 || size > max_argument || end - at < size + 2) break;
    if (limits.checks_line_ends && !IsLineEnd(at + size)) break;
    words.emplace_back(at, static_cast<size_t>(size));
    at += size + 2;
  }
  if (left == 0) return at;
  words.resize(first_word);
  return nullptr;
}

}  // namespace

struct RequestParser::NumberKind {
  char mark;
  const char* too_long;
  const char* invalid;
};

static constexpr RequestParser::NumberKind kCount = {'*', "Protocol error: too big mbulk count string",
                                                     "Protocol error: invalid multibulk length"};
static constexpr RequestParser::NumberKind kBulkSize = {'$', "Protocol error: too big bulk count string",
                                                        "Protocol error: invalid bulk length"};

std::span<char> RequestParser::ReadTarget(std::span<char> scratch) {
  if (big_argument_is_open_ && last_blob_freed_) RestoreBigArgument();
  // Until the big argument has arrived completely, bytes are read directly into its Blob. The bytes after the argument
  // belong to later requests, and are read into the normal buffer (scratch or own_).
  reading_big_argument_ = big_argument_is_open_ && big_argument_arrived_bytes_ < BigArgumentBytes();
  if (reading_big_argument_) {
    if (big_argument_arrived_bytes_ == blobs_.back().Capacity()) GrowBigArgument();
    BlobRef& blob = blobs_.back();
    return {blob.Data() + big_argument_arrived_bytes_, blob.Capacity() - big_argument_arrived_bytes_};
  }
  const size_t pending = size_ - begin_;
  if (pending <= kMovedAtMost && pending < scratch.size()) {
    scratch_ = scratch.data();
    return scratch.subspan(pending);
  }
  scratch_ = nullptr;
  if (own_.size() - size_ < kReadAtLeast / 4) own_.resize(std::max(size_ + kReadAtLeast, own_.size() * 2));
  data_ = own_.data();
  return {own_.data() + size_, own_.size() - size_};
}

void RequestParser::Received(size_t n) {
  if (reading_big_argument_) {
    big_argument_arrived_bytes_ += n;
    return;
  }
  if (scratch_ != nullptr) MoveToScratch();
  size_ += n;
}

void RequestParser::MoveToScratch() {
  if (size_ > begin_) std::memcpy(scratch_, data_ + begin_, size_ - begin_);
  data_ = std::exchange(scratch_, nullptr);
  size_ -= begin_;
  pos_ -= begin_;
  bytes_parsed_earlier_ = std::max(bytes_parsed_earlier_, begin_) - begin_;
  begin_ = 0;
  in_scratch_ = true;
}

RequestParser::Status RequestParser::ParseInto(RequestBatch& batch, const RequestLimits& limits) {
  for (;;) {
    size_t requests = batch.requests.size();
    Status status = ParseRequest(batch, limits);
    // Continues after an empty request, which gets no reply.
    if (status != Status::kRequest || batch.requests.size() != requests) return status;
  }
}

RequestParser::Status RequestParser::ParseRequest(RequestBatch& batch, const RequestLimits& limits) {
  if (arguments_left_ < 0) {
    if (pos_ == size_) return Status::kIncomplete;
    if (data_[pos_] != '*') return ParseInline(batch, limits);
    const size_t first_word = batch.words.size();
    const char* const request_end =
        limits.authenticated ? TakeUsual(data_ + pos_, data_ + size_, limits, batch.words) : nullptr;
    if (request_end != nullptr) {
      Append(batch, first_word);
      begin_ = pos_ = static_cast<size_t>(request_end - data_);
      return Status::kRequest;
    }
  }
  size_t first_word = batch.words.size();
  Status status = ParseMultibulk(batch, limits);
  if (status == Status::kError) {
    // A request before this one may block. Then the session is not closed yet, and later this request must fail again:
    // goes back to its beginning, so that its rest is not taken for requests.
    GoBackTo(begin_);
    batch.words.resize(first_word);
    return status;
  }
  if (status == Status::kIncomplete || !saved_arguments_.empty()) Save(batch, first_word);
  if (status == Status::kIncomplete) return status;
  if (!saved_arguments_.empty()) Restore(batch);
  if (batch.words.size() > first_word) {
    Append(batch, first_word);
    for (BlobRef& blob : blobs_) batch.blobs.push_back(std::move(blob));
    blobs_.clear();
  } else {
    passed_empty_ = true;
  }
  arguments_left_ = -1;
  begin_ = pos_;
  return Status::kRequest;
}

void RequestParser::Append(RequestBatch& batch, size_t first_word) {
  batch.requests.push_back({first_word, batch.words.size() - first_word, begin_, std::exchange(passed_empty_, false)});
}

RequestParser::Status RequestParser::ParseMultibulk(RequestBatch& batch, const RequestLimits& limits) {
  if (arguments_left_ < 0) {
    if (Status status = ParseCount(limits); status != Status::kRequest) return status;
  }
  while (arguments_left_ > 0) {
    if (Status status = ParseArgument(batch, limits); status != Status::kRequest) return status;
  }
  return Status::kRequest;
}

RequestParser::Status RequestParser::ParseCount(const RequestLimits& limits) {
  const size_t began = pos_;
  Number count = TakeNumber(kCount);
  if (count.status != Status::kRequest) return count.status;
  if (count.value > INT_MAX) return FailAt(began, kCount.invalid);
  if (!limits.authenticated && count.value > kUnauthenticatedArguments) {
    return FailAt(began, "Protocol error: unauthenticated multibulk length");
  }
  arguments_left_ = std::max<int64_t>(count.value, 0);
  return Status::kRequest;
}

RequestParser::Status RequestParser::ParseArgument(RequestBatch& batch, const RequestLimits& limits) {
  if (big_argument_is_open_) return FinishBigArgument(batch, limits);
  if (bulk_size_ < 0) {
    if (Status status = ParseBulkSize(limits); status != Status::kRequest) return status;
  }
  size_t size = static_cast<size_t>(bulk_size_);
  if (size >= kMinBigArgumentBytes) {
    StartBigArgument();
    return FinishBigArgument(batch, limits);
  }
  if (size_ - pos_ < size + 2) return Status::kIncomplete;
  if (limits.checks_line_ends && !IsLineEnd(data_ + pos_ + size)) return FailAt(pos_, kInvalidLineEnd);
  batch.words.emplace_back(data_ + pos_, size);
  pos_ += size + 2;
  bulk_size_ = -1;
  --arguments_left_;
  return Status::kRequest;
}

RequestParser::Status RequestParser::ParseBulkSize(const RequestLimits& limits) {
  if (pos_ == size_) return Status::kIncomplete;
  const size_t began = pos_;
  Number size = TakeNumber(kBulkSize);
  if (size.status != Status::kRequest) return size.status;
  if (size.value < 0 || size.value > limits.max_bulk_bytes) return FailAt(began, kBulkSize.invalid);
  if (!limits.authenticated && size.value > kUnauthenticatedBulk) {
    return FailAt(began, "Protocol error: unauthenticated bulk length");
  }
  bulk_size_ = size.value;
  return Status::kRequest;
}

RequestParser::Number RequestParser::TakeNumber(const NumberKind& kind) {
  const char* at = data_ + pos_;
  const int64_t value = TakeShortNumber(at, data_ + size_, kind.mark);
  if (value == kUnusual) return TakeNumberSlowly(kind);
  pos_ = static_cast<size_t>(at - data_);
  return {Status::kRequest, value};
}

RequestParser::Number RequestParser::TakeNumberSlowly(const NumberKind& kind) {
  const char* from = data_ + pos_;
  const void* cr = std::memchr(from, '\r', size_ - pos_);
  if (cr == nullptr) {
    if (size_ - pos_ > kMaxUnfinishedLineBytes) return {FailAt(pos_, kind.too_long), 0};
    return {Status::kIncomplete, 0};
  }
  size_t length = static_cast<size_t>(static_cast<const char*>(cr) - from);
  if (pos_ + length + 2 > size_) return {Status::kIncomplete, 0};
  // As in Redis, a missing line end is noticed first, then a wrong first byte, then an invalid number.
  if (*from != kind.mark)
    return {FailAt(pos_, std::string("Protocol error: expected '$', got '").append(1, *from).append("'")), 0};
  auto value = ParseInteger({from + 1, length - 1});
  if (!value) return {FailAt(pos_, kind.invalid), 0};
  pos_ += length + 2;
  return {Status::kRequest, *value};
}

BlobRef RequestParser::NewBigArgumentBlob(size_t arrived) const {
  constexpr size_t kMin = 64 * 1024;
  constexpr size_t kGrowth = 4;
  const size_t all = BigArgumentBytes();
  const size_t room = all - 2 <= kMaxPreallocatedBytes ? all : std::min(all, std::max(kMin, arrived * kGrowth));
  return BlobRef::OfSize(std::min(room, static_cast<size_t>(bulk_size_)), room);
}

void RequestParser::StartBigArgument() {
  big_argument_arrived_bytes_ = std::min(BigArgumentBytes(), size_ - pos_);
  blobs_.push_back(NewBigArgumentBlob(big_argument_arrived_bytes_));
  big_argument_is_open_ = true;
  big_argument_bytes_in_data_ = big_argument_arrived_bytes_;
  std::memcpy(blobs_.back().Data(), data_ + pos_, big_argument_arrived_bytes_);
  pos_ += big_argument_arrived_bytes_;
}

void RequestParser::GrowBigArgument() {
  BlobRef larger = NewBigArgumentBlob(big_argument_arrived_bytes_);
  std::memcpy(larger.Data(), blobs_.back().ConstData(), big_argument_arrived_bytes_);
  blobs_.back() = std::move(larger);
}

void RequestParser::RestoreBigArgument() {
  blobs_.back() = NewBigArgumentBlob(big_argument_saved_bytes_.size());
  std::copy(big_argument_saved_bytes_.begin(), big_argument_saved_bytes_.end(), blobs_.back().Data());
  std::vector<char>().swap(big_argument_saved_bytes_);
  last_blob_freed_ = false;
}

void RequestParser::Shrink() {
  if (big_argument_is_open_ && !last_blob_freed_ && big_argument_arrived_bytes_ < blobs_.back().Capacity() / 2) {
    big_argument_saved_bytes_.assign(blobs_.back().Data(), blobs_.back().Data() + big_argument_arrived_bytes_);
    blobs_.back() = BlobRef::OfSize(0, 0);
    last_blob_freed_ = true;
  }
  if (!own_.empty() && own_.size() > size_ + kReadAtLeast) {
    own_.resize(size_);
    own_.shrink_to_fit();
    data_ = own_.data();
  }
}

RequestParser::Status RequestParser::FinishBigArgument(RequestBatch& batch, const RequestLimits& limits) {
  if (last_blob_freed_) return Status::kIncomplete;  // nothing has arrived since Shrink
  if (big_argument_arrived_bytes_ < BigArgumentBytes()) return Status::kIncomplete;
  if (limits.checks_line_ends && !IsLineEnd(blobs_.back().ConstData() + bulk_size_))
    return FailAt(pos_, kInvalidLineEnd);
  batch.words.push_back(blobs_.back().View());
  big_argument_is_open_ = false;
  big_argument_arrived_bytes_ = big_argument_bytes_in_data_ = 0;
  bulk_size_ = -1;
  --arguments_left_;
  return Status::kRequest;
}

void RequestParser::Save(RequestBatch& batch, size_t first_word) {
  for (size_t i = first_word; i < batch.words.size(); ++i) {
    Bytes word = batch.words[i];
    bool is_blob = saved_blob_count_ < blobs_.size() && blobs_[saved_blob_count_].View().data() == word.data();
    size_t offset = is_blob ? saved_blob_count_++ : static_cast<size_t>(word.data() - (data_ + begin_));
    saved_arguments_.push_back({offset, word.size(), is_blob});
  }
  batch.words.resize(first_word);
}

void RequestParser::Restore(RequestBatch& batch) {
  for (const Argument& argument : saved_arguments_) {
    batch.words.push_back(argument.is_blob ? blobs_[argument.offset].View()
                                           : Bytes(data_ + begin_ + argument.offset, argument.size));
  }
  saved_arguments_.clear();
  saved_blob_count_ = 0;
}

RequestParser::Status RequestParser::FailAt(size_t pos, std::string text) {
  error_ = std::move(text);
  error_pos_ = pos;
  return Status::kError;
}

RequestParser::Status RequestParser::ParseInline(RequestBatch& batch, const RequestLimits& limits) {
  const char* from = data_ + pos_;
  const void* newline = std::memchr(from, '\n', size_ - pos_);
  if (newline == nullptr) {
    if (size_ - pos_ > kMaxUnfinishedLineBytes) return FailAt(pos_, "Protocol error: too big inline request");
    return Status::kIncomplete;
  }
  size_t length = static_cast<size_t>(static_cast<const char*>(newline) - from);
  Bytes line(from, length > 0 && from[length - 1] == '\r' ? length - 1 : length);
  auto words = SplitQuoted(line, limits.joins_quoted_parts ? AfterQuote::kAnything : AfterQuote::kSpace);
  if (!words) return FailAt(pos_, "Protocol error: unbalanced quotes in request");
  pos_ += length + 1;
  const size_t first_word = batch.words.size();
  for (std::string& word : *words) batch.words.push_back(batch.inline_words.emplace_back(std::move(word)));
  if (words->empty()) {
    passed_empty_ = true;
  } else {
    Append(batch, first_word);
  }
  begin_ = pos_;
  return Status::kRequest;
}

void RequestParser::Unread(const RequestBatch& batch, size_t index) {
  if (index >= batch.requests.size()) return GoBackTo(begin_);
  passed_empty_ = batch.requests[index].follows_empty;
  GoBackTo(batch.requests[index].offset);
}

void RequestParser::GoBackTo(size_t offset) {
  // Discards the state of an incomplete request: it will also be parsed again.
  saved_arguments_.clear();
  saved_blob_count_ = 0;
  blobs_.clear();
  big_argument_is_open_ = false;
  big_argument_arrived_bytes_ = big_argument_bytes_in_data_ = 0;
  arguments_left_ = bulk_size_ = -1;
  begin_ = pos_ = offset;
}

void RequestParser::SaveRest() {
  if (big_argument_bytes_in_data_ != 0) {  // no request can be unread any more, so the Blob alone is enough
    size_ -= std::exchange(big_argument_bytes_in_data_, 0);
    pos_ = size_;
    if (!in_scratch_ && own_.size() > 2 * kReadAtLeast) {
      own_.resize(size_);
      own_.shrink_to_fit();
      data_ = own_.data();
    }
  }
  size_t left = size_ - begin_;
  bool stays = !in_scratch_ && begin_ < left;  // moving them after each read would make a long input O(n²)
  if (left == 0) {
    if (!own_.empty()) std::vector<char>().swap(own_);
    if (saved_arguments_.capacity() > 0)
      std::vector<Argument>().swap(saved_arguments_);  // empty, since no request is incomplete
    data_ = nullptr;
    size_ = begin_ = pos_ = 0;
  } else if (in_scratch_) {
    own_.assign(data_ + begin_, data_ + size_);
    if (own_.capacity() > 2 * left) own_.shrink_to_fit();
  } else if (!stays) {
    std::memmove(own_.data(), own_.data() + begin_, left);
  }
  if (left > 0 && !stays) {
    data_ = own_.data();
    pos_ -= begin_;
    size_ = left;
    begin_ = 0;
  }
  bytes_parsed_earlier_ = pos_;
  in_scratch_ = false;
}

size_t RequestParser::PendingArgumentBytes() const {
  size_t bytes = 0;
  for (const Argument& argument : saved_arguments_) bytes += argument.size;
  return bytes;
}

size_t RequestParser::HeldBytes() const {
  size_t held = own_.capacity() + saved_arguments_.capacity() * sizeof(Argument) + big_argument_saved_bytes_.capacity();
  for (const BlobRef& blob : blobs_) held += blob.UsedBytes();
  return held;
}

}  // namespace respite
