#include "protocol/request_text.h"

#include <charconv>
#include <cstring>

#include "base/number_text.h"

namespace respite {

namespace {

constexpr size_t kLongestHead = 24;  // a mark, 20 digits, a line end
constexpr size_t kLineEndSize = 2;

char* WriteLineEnd(char* at) {
  at[0] = '\r';
  at[1] = '\n';
  return at + kLineEndSize;
}

// Writes a line such as "*3\r\n" or "$5\r\n": the mark, the number and a line end. Returns the end of the line.
// Requires: there is room for kLongestHead bytes.
char* WriteHead(char* at, char mark, size_t number) {
  *at++ = mark;
  if (number < 10) {
    *at++ = static_cast<char>('0' + number);
  } else {
    at = std::to_chars(at, at + kLongestHead, number).ptr;
  }
  return WriteLineEnd(at);
}

}  // namespace

std::vector<Bytes> WordsOfRequest(Bytes request) {
  const auto take_number = [&] {  // of a line such as "*3\r\n" or "$5\r\n"
    const size_t end = request.find('\r');
    size_t number = 0;
    std::from_chars(request.data() + 1, request.data() + end, number);
    request.remove_prefix(end + kLineEndSize);
    return number;
  };
  std::vector<Bytes> words(take_number());
  for (Bytes& word : words) {
    const size_t size = take_number();
    word = request.substr(0, size);
    request.remove_prefix(size + kLineEndSize);
  }
  return words;
}

size_t RequestBytes(std::span<const Bytes> words) {
  const auto head_bytes = [](size_t number) {
    size_t bytes = 1 + 1 + kLineEndSize;
    for (; number >= 10; number /= 10) ++bytes;
    return bytes;
  };
  size_t bytes = head_bytes(words.size());
  for (Bytes word : words) bytes += head_bytes(word.size()) + word.size() + kLineEndSize;
  return bytes;
}

RequestWriter& RequestWriter::Word(Bytes word) {
  constexpr size_t kShort = 128;  // for longer words, copying twice costs more than a flush
  if (kGatheredCapacity - used_ < kLongestHead + kShort + kLineEndSize) Flush();
  Head('$', word.size());
  if (word.size() <= kShort) {
    if (!word.empty()) std::memcpy(gathered_.data() + used_, word.data(), word.size());
    used_ += word.size();
  } else {
    Flush();
    out_.append(word);
  }
  used_ = static_cast<size_t>(WriteLineEnd(gathered_.data() + used_) - gathered_.data());
  return *this;
}

RequestWriter& RequestWriter::Integer(int64_t number) { return Word(IntegerText(number)); }

void RequestWriter::Head(char mark, size_t number) {
  used_ = static_cast<size_t>(WriteHead(gathered_.data() + used_, mark, number) - gathered_.data());
}

void RequestWriter::Flush() {
  out_.append(gathered_.data(), used_);
  used_ = 0;
}

void RequestOutput::Begin(size_t words) { Head('*', words); }

void RequestOutput::Word(Bytes word) {
  Head('$', word.size());
  Verbatim(word);
  Verbatim("\r\n");
}

void RequestOutput::Integer(int64_t number) { Word(IntegerText(number)); }

void RequestOutput::Verbatim(Bytes text) {
  if (kBuffer - used_ < text.size()) Flush();
  if (text.size() > kBuffer) return Take(text);
  if (!text.empty()) std::memcpy(&buffer_[used_], text.data(), text.size());
  used_ += text.size();
}

void RequestOutput::Head(char mark, size_t number) {
  if (kBuffer - used_ < kLongestHead) Flush();
  used_ = static_cast<size_t>(WriteHead(&buffer_[used_], mark, number) - buffer_.get());
}

void RequestOutput::Flush() {
  if (used_ > 0) Take({buffer_.get(), used_});
  used_ = 0;
}

}  // namespace respite
