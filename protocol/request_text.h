// Requests as text: RESP arrays of bulk strings, as sent by clients and stored in append-only files.
//
//   AppendRequest(out, {"SELECT", IntegerText(db)});
//   RequestWriter(out, 3).Word("INCRBY").Word(key).Integer(by);
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

// The request is complete when the writer is destroyed. Short words are collected first, so that `out` grows in few
// steps. Cost: O(bytes), about 15 ns for a short word.
class RequestWriter {  // appends one request, in RESP, to a string
 public:
  // Writes the header of a request with `words` arguments (the command's name is one). The caller must then write
  // exactly this many.
  RequestWriter(std::string& out, size_t words) : out_(out) { Head('*', words); }
  RequestWriter(const RequestWriter&) = delete;
  RequestWriter& operator=(const RequestWriter&) = delete;
  ~RequestWriter() { Flush(); }

  RequestWriter& Word(Bytes word);
  RequestWriter& Integer(int64_t number);  // adds an argument: a number as decimal text

 private:
  static constexpr size_t kGatheredCapacity = 512;  // how many bytes gathered_ can hold before they are added to out_

  // Writes a line such as "*3\r\n" or "$5\r\n": the mark, the number and a line end. Requires: gathered_ has room for
  // this line.
  void Head(char mark, size_t number);
  void Flush();  // moves the bytes in gathered_ to out_

  std::string& out_;
  size_t used_ = 0;                               // bytes of gathered_
  std::array<char, kGatheredCapacity> gathered_;  // collected bytes that are not in out_ yet
};

// `words` is a range whose elements convert to Bytes.
template <typename Words>
void AppendRequest(std::string& out, const Words& words) {  // appends a request in RESP to `out`
  RequestWriter writer(out, std::size(words));
  for (const auto& word : words) writer.Word(word);
}
inline void AppendRequest(std::string& out,  // appends a request in RESP to `out`
                          std::initializer_list<Bytes> words) {
  AppendRequest(out, std::span<const Bytes>(words.begin(), words.size()));
}

// Requires: `request` is one complete request in RESP, as AppendRequest writes it. Cost: O(words).
std::vector<Bytes> WordsOfRequest(Bytes request);  // the words of a request; views of `request`

// Cost: O(words).
size_t RequestBytes(std::span<const Bytes> words);  // the size of this request in RESP, in bytes

// Writes many requests of any size. Collects them in a buffer, and passes each full buffer to the virtual function
// Take. Words longer than the buffer are not copied.
//
//   out.Begin(3);
//   out.Word("INCRBY");
//   out.Word(key);
//   out.Integer(by);
class RequestOutput {  // writes many requests in RESP, through a buffer, for example to a file
 public:
  RequestOutput() : buffer_(new char[kBuffer]) {}
  RequestOutput(const RequestOutput&) = delete;
  RequestOutput& operator=(const RequestOutput&) = delete;
  virtual ~RequestOutput() = default;

  // Requires: the previous request is complete, and the caller then writes exactly `words` words.
  void Begin(size_t words);  // starts a request; `words` calls of Word or Integer must follow
  void Word(Bytes word);
  void Integer(int64_t number);  // writes an argument: a number as decimal text
  // For part of a request, an annotation of an AOF (`#TS:…`), or requests that are in RESP already.
  void Verbatim(Bytes text);  // writes the bytes as they are
  void Flush();               // passes the buffered bytes to Take; must be called at the end

 protected:
  virtual void Take(Bytes piece) = 0;  // receives the next bytes of the output

 private:
  static constexpr size_t kBuffer = size_t{64} * 1024;  // size of buffer_

  void Head(char mark, size_t number);

  std::unique_ptr<char[]> buffer_;  // requests; the first used_ bytes are not passed to Take yet
  size_t used_ = 0;                 // bytes of buffer_ that are not passed to Take yet
};

}  // namespace respite
