#include "protocol/request_parser.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/number_text.h"

namespace respite {

namespace {

constexpr size_t kReadAtLeast = 16 * 1024;
constexpr size_t kStrangerArguments = 10;
constexpr int64_t kStrangerBulk = 16384;

}  // namespace

std::span<char> RequestParser::ReadTarget(std::span<char> scratch) {
  if (big_open_) {
    reading_big_ = true;
    if (!big_parked_.empty() || !blobs_.back()) RestoreBigArgument();
    BlobRef& blob = blobs_.back();
    return {blob.Data() + big_filled_, blob.Capacity() - big_filled_};
  }
  reading_big_ = false;
  if (size_ == begin_ && arguments_left_ < 0) {
    data_ = scratch.data();
    size_ = begin_ = pos_ = 0;
    in_scratch_ = true;
    return scratch;
  }
  if (own_.size() - size_ < kReadAtLeast) own_.resize(std::max(size_ + kReadAtLeast, own_.size() * 2));
  data_ = own_.data();
  return {own_.data() + size_, own_.size() - size_};
}

void RequestParser::Received(size_t n) {
  if (reading_big_) {
    big_filled_ += n;
  } else {
    size_ += n;
  }
}

RequestParser::Status RequestParser::ParseInto(RequestBatch& batch, const RequestLimits& limits) {
  for (;;) {
    if (big_open_ && FinishBigArgument() == Status::kIncomplete) return Status::kIncomplete;
    if (arguments_left_ < 0 && pos_ == size_) return Status::kIncomplete;
    bool multibulk = arguments_left_ >= 0 || data_[pos_] == '*';
    size_t before = batch.requests.size();
    Status status = multibulk ? ParseMultibulk(batch, limits) : ParseInline(batch);
    // An empty request (a bare line end, `*0`) is skipped without an answer.
    if (status == Status::kRequest && batch.requests.size() == before) continue;
    return status;
  }
}

RequestParser::Status RequestParser::Fail(std::string text) {
  error_ = std::move(text);
  return Status::kError;
}

RequestParser::Line RequestParser::TakeLine(Bytes too_long) {
  const char* from = data_ + pos_;
  const void* cr = std::memchr(from, '\r', size_ - pos_);
  if (cr == nullptr) {
    if (size_ - pos_ > kInlineMax) return {Fail(std::string(too_long)), {}};
    return {Status::kIncomplete, {}};
  }
  size_t length = static_cast<size_t>(static_cast<const char*>(cr) - from);
  if (pos_ + length + 2 > size_) return {Status::kIncomplete, {}};
  pos_ += length + 2;
  return {Status::kRequest, {from, length}};
}

RequestParser::Status RequestParser::ParseMultibulk(RequestBatch& batch, const RequestLimits& limits) {
  if (arguments_left_ < 0) {
    Status status = ParseCount(limits);
    if (status != Status::kRequest) return status;
  }
  while (arguments_left_ > 0) {
    Status status = ParseArgument(limits);
    if (status != Status::kRequest) return status;
  }
  return Finish(batch);
}

RequestParser::Status RequestParser::ParseCount(const RequestLimits& limits) {
  Line line = TakeLine("Protocol error: too big mbulk count string");
  if (line.status != Status::kRequest) return line.status;
  auto count = ParseInteger(line.text.substr(1));
  if (!count || *count > INT_MAX) return Fail("Protocol error: invalid multibulk length");
  if (!limits.authenticated && *count > static_cast<int64_t>(kStrangerArguments)) {
    return Fail("Protocol error: unauthenticated multibulk length");
  }
  arguments_left_ = std::max<int64_t>(*count, 0);
  return Status::kRequest;
}

RequestParser::Status RequestParser::ParseArgument(const RequestLimits& limits) {
  if (bulk_size_ < 0) {
    if (pos_ == size_) return Status::kIncomplete;
    size_t at = pos_;
    Line line = TakeLine("Protocol error: too big bulk count string");
    if (line.status != Status::kRequest) return line.status;
    // Redis looks at the line end first and at the '$' second.
    if (data_[at] != '$') return Fail(std::string("Protocol error: expected '$', got '") + data_[at] + "'");
    auto size = ParseInteger(line.text.substr(1));
    if (!size || *size < 0 || *size > limits.max_bulk_bytes) return Fail("Protocol error: invalid bulk length");
    if (!limits.authenticated && *size > kStrangerBulk) return Fail("Protocol error: unauthenticated bulk length");
    bulk_size_ = *size;
  }
  size_t size = static_cast<size_t>(bulk_size_);
  if (size >= kBigArgument) return StartBigArgument(size);
  if (size_ - pos_ < size + 2) return Status::kIncomplete;
  arguments_.push_back({pos_ - begin_, size, false});
  pos_ += size + 2;
  bulk_size_ = -1;
  --arguments_left_;
  return Status::kRequest;
}

RequestParser::Status RequestParser::StartBigArgument(size_t size) {
  blobs_.push_back(BlobRef::OfSize(size, size + 2));
  big_open_ = true;
  big_filled_ = std::min(size + 2, size_ - pos_);
  std::memcpy(blobs_.back().Data(), data_ + pos_, big_filled_);
  pos_ += big_filled_;
  return FinishBigArgument();
}

void RequestParser::RestoreBigArgument() {
  size_t size = static_cast<size_t>(bulk_size_);
  blobs_.back() = BlobRef::OfSize(size, size + 2);
  std::memcpy(blobs_.back().Data(), big_parked_.data(), big_filled_);
  std::vector<char>().swap(big_parked_);
}

void RequestParser::Shrink() {
  if (big_open_ && blobs_.back() && big_filled_ < blobs_.back().Capacity() / 2) {
    big_parked_.assign(blobs_.back().Data(), blobs_.back().Data() + big_filled_);
    blobs_.back() = BlobRef();
  }
  if (!in_scratch_ && own_.size() > size_ + kReadAtLeast) {
    own_.resize(size_);
    own_.shrink_to_fit();
    data_ = own_.data();
  }
}

RequestParser::Status RequestParser::FinishBigArgument() {
  BlobRef& blob = blobs_.back();
  if (!blob) return Status::kIncomplete;  // shrunk, and nothing has arrived since
  if (big_filled_ < blob.Capacity()) return Status::kIncomplete;
  arguments_.push_back({blobs_.size() - 1, blob.Size(), true});
  big_open_ = false;
  big_filled_ = 0;
  bulk_size_ = -1;
  --arguments_left_;
  return Status::kRequest;
}

RequestParser::Status RequestParser::Finish(RequestBatch& batch) {
  if (!arguments_.empty()) {
    size_t first_blob = batch.blobs.size();
    for (BlobRef& blob : blobs_) batch.blobs.push_back(std::move(blob));
    batch.requests.push_back({batch.words.size(), arguments_.size(), begin_});
    for (const Argument& argument : arguments_) {
      batch.words.push_back(argument.is_blob ? batch.blobs[first_blob + argument.offset].View()
                                             : Bytes(data_ + begin_ + argument.offset, argument.size));
    }
  }
  arguments_.clear();
  blobs_.clear();
  arguments_left_ = -1;
  begin_ = pos_;
  return Status::kRequest;
}

RequestParser::Status RequestParser::ParseInline(RequestBatch& batch) {
  const char* from = data_ + pos_;
  const void* newline = std::memchr(from, '\n', size_ - pos_);
  if (newline == nullptr) {
    if (size_ - pos_ > kInlineMax) return Fail("Protocol error: too big inline request");
    return Status::kIncomplete;
  }
  size_t length = static_cast<size_t>(static_cast<const char*>(newline) - from);
  Bytes line(from, length > 0 && from[length - 1] == '\r' ? length - 1 : length);
  auto words = SplitQuoted(line);
  if (!words) return Fail("Protocol error: unbalanced quotes in request");
  pos_ += length + 1;
  if (!words->empty()) {
    batch.requests.push_back({batch.words.size(), words->size(), begin_});
    for (std::string& word : *words) batch.words.push_back(batch.inline_words.emplace_back(std::move(word)));
  }
  begin_ = pos_;
  return Status::kRequest;
}

void RequestParser::Unread(const RequestBatch& batch, size_t index) {
  // Everything behind the unread requests is unparsed too: forget a request that was begun.
  arguments_.clear();
  arguments_left_ = bulk_size_ = -1;
  begin_ = pos_ = batch.requests[index].offset;
}

void RequestParser::Park() {
  size_t left = size_ - begin_;
  if (left == 0) {
    if (!own_.empty()) std::vector<char>().swap(own_);
    data_ = nullptr;
    size_ = begin_ = pos_ = 0;
  } else if (in_scratch_) {
    own_.assign(data_ + begin_, data_ + size_);
  } else if (begin_ > 0) {
    std::memmove(own_.data(), own_.data() + begin_, left);
  }
  if (left > 0) {
    data_ = own_.data();
    pos_ -= begin_;
    size_ = left;
    begin_ = 0;
  }
  in_scratch_ = false;
}

size_t RequestParser::PendingArgumentBytes() const {
  size_t bytes = 0;
  for (const Argument& argument : arguments_) bytes += argument.size;
  return bytes;
}

size_t RequestParser::HeldBytes() const {
  size_t held = own_.capacity() + arguments_.capacity() * sizeof(Argument);
  held += big_parked_.capacity();
  for (const BlobRef& blob : blobs_) held += blob ? blob.UsedBytes() : 0;
  return held;
}

}  // namespace respite
