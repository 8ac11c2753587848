#include "persistence/aof_reader.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>

namespace respite {

namespace {

constexpr uint64_t kLongestArgument = UINT32_MAX;
constexpr size_t kLongestAnnotation = 1024;
constexpr size_t kLineEnd = 2;

enum class NumberState : uint8_t { kWhole, kIncomplete, kBad };

// The result of parsing a line such as "*3\r\n" or "$5\r\n": a mark, a number and a line end. `end` is the end of the
// line, or where parsing stopped.
struct NumberLine {
  NumberState state;
  uint64_t value;
  const char* end;
};

NumberLine TakeLongNumber(const char* from, const char* end, char mark) {
  constexpr uint64_t kLargest = UINT64_C(100'000'000'000);  // larger ones are invalid anyway
  if (*from != mark) return {NumberState::kBad, 0, from};
  const char* at = from + 1;
  uint64_t value = 0;
  for (; at < end && IsDigit(*at) && value < kLargest; ++at) value = value * 10 + static_cast<uint64_t>(*at - '0');
  const bool has_digits = at > from + 1;
  const bool leads_with_zero = at > from + 2 && from[1] == '0';
  if (leads_with_zero || value >= kLargest) return {NumberState::kBad, 0, at};
  if (at == end) return {NumberState::kIncomplete, value, at};
  if (!has_digits || *at != '\r') return {NumberState::kBad, 0, at};
  if (at + 1 == end) return {NumberState::kIncomplete, value, at};
  if (at[1] != '\n') return {NumberState::kBad, value, at};
  return {NumberState::kWhole, value, at + kLineEnd};
}

bool IsLineEnd(const char* at) { return at[0] == '\r' && at[1] == '\n'; }

// Parses a line "<mark><number>CRLF". Is fast if the number has one or two digits, as most have. Requires: from < end.
NumberLine TakeNumber(const char* from, const char* end, char mark) {
  constexpr ptrdiff_t kShortLine = 5;
  if (end - from < kShortLine || *from != mark || !IsDigit(from[1])) return TakeLongNumber(from, end, mark);
  const auto first = static_cast<uint64_t>(from[1] - '0');
  if (IsLineEnd(from + 2)) return {NumberState::kWhole, first, from + 4};
  if (first == 0 || !IsDigit(from[2]) || !IsLineEnd(from + 3)) return TakeLongNumber(from, end, mark);
  return {NumberState::kWhole, first * 10 + static_cast<uint64_t>(from[2] - '0'), from + kShortLine};
}

using FaultKind = AofReader::Fault::Kind;

// Returns why a line that should be "<mark><number>CRLF" is wrong. The reason is `wrong_number` if the line has a
// number that is not allowed or is above `most`, otherwise kLineEnd.
FaultKind FaultOf(const NumberLine& line, uint64_t most, FaultKind wrong_number) {
  const bool has_number = line.state == NumberState::kWhole || line.value > most;
  return has_number ? wrong_number : FaultKind::kLineEnd;
}

}  // namespace

std::optional<int64_t> NumberInAnnotation(Bytes line, Bytes mark) {
  if (!line.starts_with(mark)) return std::nullopt;
  const Bytes text = line.substr(mark.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end != text.data() + text.size() && *end == '\r';
  return is_whole ? std::optional(number) : std::nullopt;
}

AofReader::AofReader(File& file, uint64_t offset, size_t chunk_bytes)
    : file_(file), chunk_bytes_(chunk_bytes), file_offset_(offset), offset_(offset) {}

AofReader::Status AofReader::Next(RequestBatch& batch) {
  batch.Clear();
  while (true) {
    const Outcome outcome = ParseRecord(batch);
    if (outcome == Outcome::kWhole && batch.requests.size() < kMaxRecordsPerCall) continue;
    if (!batch.requests.empty()) return Status::kRecords;
    if (outcome == Outcome::kFormatError) return Status::kFormatError;
    const Status status = outcome == Outcome::kLargeArgument ? FetchLargeArgument() : ReadNextChunk(outcome);
    if (status != Status::kRecords) return status;
  }
}

// Stores the fault in fault_, and returns `outcome`. `begin` is where the faulty line or argument begins, and `at` is
// where its first wrong or missing byte is; both are indexes in buffer_. `lines` is the number of lines of the damaged
// record before `begin`.
AofReader::Outcome AofReader::Stop(Outcome outcome, FaultKind kind, size_t begin, size_t at, uint64_t lines) {
  fault_ = {kind, FileOffset(begin), FileOffset(at), announced_size_, lines};
  return outcome;
}

AofReader::Outcome AofReader::ReadAnnotations() {
  parsed_ = begin_;
  while (parsed_ < filled_ && buffer_[parsed_] == '#') {
    const size_t most = std::min(filled_ - parsed_, kLongestAnnotation);
    const void* newline = std::memchr(&buffer_[parsed_], '\n', most);
    if (newline == nullptr) {
      const Outcome outcome = most == kLongestAnnotation ? Outcome::kFormatError : Outcome::kIncomplete;
      return Stop(outcome, FaultKind::kAnnotation, parsed_, filled_);
    }
    const size_t end = static_cast<size_t>(static_cast<const char*>(newline) - buffer_.get()) + 1;
    if (annotation_listener_) annotation_listener_(offset_ + (parsed_ - begin_), {&buffer_[parsed_], end - parsed_});
    parsed_ = end;
  }
  return parsed_ < filled_ ? Outcome::kWhole : Outcome::kNothing;
}

AofReader::Outcome AofReader::ParseRecord(RequestBatch& batch) {
  if (const Outcome outcome = ReadAnnotations(); outcome != Outcome::kWhole) return outcome;
  const NumberLine count = TakeNumber(&buffer_[parsed_], &buffer_[filled_], '*');
  const bool is_zero = count.value == 0 && count.end > &buffer_[parsed_] + 1;
  if (count.state != NumberState::kWhole || is_zero || count.value > INT_MAX) {
    const bool continues_later = count.state == NumberState::kIncomplete && !is_zero;
    const FaultKind kind =
        buffer_[parsed_] == '*' ? FaultOf(count, INT_MAX, FaultKind::kCount) : FaultKind::kNotARecord;
    return Stop(continues_later ? Outcome::kIncomplete : Outcome::kFormatError, kind, parsed_,
                static_cast<size_t>(count.end - buffer_.get()));
  }
  const size_t first_word = batch.words.size();
  const Outcome outcome = ParseRecordArguments(batch, static_cast<size_t>(count.end - buffer_.get()), count.value);
  if (outcome == Outcome::kWhole) {
    AddRecord(batch, first_word, parsed_);
  } else {
    batch.words.resize(first_word);
  }
  return outcome;
}

AofReader::Outcome AofReader::ParseRecordArguments(RequestBatch& batch, size_t pos, uint64_t count) {
  const char* at = buffer_.get() + pos;
  const char* const end = buffer_.get() + filled_;
  const auto position = [&](const char* of) { return static_cast<size_t>(of - buffer_.get()); };
  size_t next_fetched = 0;
  for (uint64_t lines = 1; count > 0; --count, lines += 2) {
    if (at == end) return Stop(Outcome::kIncomplete, FaultKind::kLineEnd, position(at), position(at), lines);
    const NumberLine size = TakeNumber(at, end, '$');
    if (size.state != NumberState::kWhole || size.value > kLongestArgument) {
      const bool continues_later = size.state == NumberState::kIncomplete && size.value <= kLongestArgument;
      announced_size_ = size.value;
      const FaultKind kind = *at == '$' ? FaultOf(size, kLongestArgument, FaultKind::kSize) : FaultKind::kMark;
      return Stop(continues_later ? Outcome::kIncomplete : Outcome::kFormatError, kind, position(at),
                  position(size.end), lines);
    }
    at = size.end;
    parsed_ = position(at);
    if (next_fetched < fetched_arguments_.size() && fetched_arguments_[next_fetched].at == parsed_ - begin_) {
      batch.words.push_back(fetched_arguments_[next_fetched++].blob.View());
      continue;
    }
    if (static_cast<size_t>(end - at) < size.value + kLineEnd) {
      announced_size_ = size.value;
      const bool is_large = size.value >= RequestParser::kMinBigArgumentBytes;
      return Stop(is_large ? Outcome::kLargeArgument : Outcome::kIncomplete, FaultKind::kMissing, parsed_, filled_,
                  lines + 1);
    }
    batch.words.emplace_back(at, size.value);
    at += size.value;
    if (!IsLineEnd(at)) return Stop(Outcome::kFormatError, FaultKind::kLineEnd, parsed_, position(at), lines + 1);
    at += kLineEnd;
  }
  parsed_ = position(at);
  return Outcome::kWhole;
}

void AofReader::AddRecord(RequestBatch& batch, size_t first_word, size_t end) {
  batch.requests.push_back({first_word, batch.words.size() - first_word, offset_});
  offset_ += end - begin_ + fetched_bytes_;
  begin_ = end;
  if (fetched_arguments_.empty()) return;
  for (FetchedArgument& fetched : fetched_arguments_) batch.blobs.push_back(std::move(fetched.blob));
  fetched_arguments_.clear();
  fetched_bytes_ = 0;
}

// Reads more of the file into the buffer. If a record does not fit, doubles the size of the buffer; the record is then
// parsed again from its start. Because the size doubles, all attempts together cost O(size of the record).
AofReader::Status AofReader::ReadNextChunk(Outcome outcome) {
  if (at_end_) return outcome == Outcome::kNothing ? Status::kEnd : Status::kTruncated;
  const size_t left = filled_ - begin_;
  const size_t capacity = std::max(chunk_bytes_, left * 2);
  if (capacity != capacity_) {
    std::unique_ptr<char[]> larger(new char[capacity]);
    if (left > 0) std::memcpy(larger.get(), &buffer_[begin_], left);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else {
    std::memmove(buffer_.get(), &buffer_[begin_], left);
  }
  begin_ = 0;
  const IoProgress progress = file_.ReadAt(file_offset_, {buffer_.get() + left, capacity_ - left});
  filled_ = left + progress.bytes;
  file_offset_ += progress.bytes;
  error_ = progress.error;
  if (error_ != kNoError) return Status::kReadError;
  at_end_ = filled_ < capacity_;
  return Status::kRecords;
}

AofReader::Status AofReader::FetchLargeArgument() {
  const Result<uint64_t, IoError> file_size = file_.Size();
  if (!file_size) {
    error_ = file_size.error();
    return Status::kReadError;
  }
  const size_t here = filled_ - parsed_;
  const uint64_t bytes = announced_size_ + kLineEnd;
  // Checks that the file has as many bytes as the announced size, which may be wrong. Only then is the memory
  // allocated.
  if (file_size.value() < file_offset_ || file_size.value() - file_offset_ < bytes - here) return Status::kTruncated;
  BlobRef blob = BlobRef::OfSize(announced_size_, bytes);
  std::memcpy(blob.Data(), buffer_.get() + parsed_, here);
  const IoProgress progress = file_.ReadAt(file_offset_, {blob.Data() + here, bytes - here});
  error_ = progress.error;
  if (error_ != kNoError) return Status::kReadError;
  if (progress.bytes < bytes - here) return Status::kTruncated;
  if (!IsLineEnd(blob.Data() + announced_size_)) {
    Stop(Outcome::kFormatError, FaultKind::kLineEnd, parsed_, parsed_ + announced_size_, fault_.line_count);
    return Status::kFormatError;
  }
  file_offset_ += progress.bytes;
  filled_ = parsed_;
  fetched_arguments_.push_back({parsed_ - begin_, std::move(blob)});
  fetched_bytes_ += bytes;
  return Status::kRecords;
}

}  // namespace respite
