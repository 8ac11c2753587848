// Requests as text: RESP arrays of bulk strings, as clients send them and append-only files hold them.
//
//   AppendRequest(out, {"SELECT", IntegerText(db)});
//   RequestWriter(out, 3).Word("INCRBY").Word(key).Integer(by);
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

// Writes one request behind what `out` holds; it is whole when the writer goes. Short words are gathered, so that `out`
// grows in few steps. Cost: O(octets), about 15 ns for a short word.
class RequestWriter {
 public:
  // Requires: exactly `words` words will follow.
  RequestWriter(std::string& out, size_t words) : out_(out) { Head('*', words); }
  RequestWriter(const RequestWriter&) = delete;
  RequestWriter& operator=(const RequestWriter&) = delete;
  ~RequestWriter() { Flush(); }

  RequestWriter& Word(Bytes word);
  RequestWriter& Integer(int64_t number);

 private:
  static constexpr size_t kGathered = 512;
  static constexpr size_t kLongestHead = 24;  // a mark, 20 digits, a line end

  // "<mark><number>\r\n". Requires: there is room.
  void Head(char mark, size_t number);
  void Flush();

  std::string& out_;
  size_t used_ = 0;  // of gathered_
  std::array<char, kGathered> gathered_;
};

// All words of a request; Words is a range of what converts to Bytes.
template <typename Words>
void AppendRequest(std::string& out, const Words& words) {
  RequestWriter writer(out, std::size(words));
  for (const auto& word : words) writer.Word(word);
}
inline void AppendRequest(std::string& out, std::initializer_list<Bytes> words) {
  AppendRequest(out, std::span<const Bytes>(words.begin(), words.size()));
}

}  // namespace respite
