#include "datatypes/json/json_parser.h"

#include <cstddef>
#include <utility>
#include <vector>

// This file uses RapidJSON without its support for std::string.
#define RAPIDJSON_HAS_STDSTRING 0
#include <rapidjson/error/error.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "datatypes/json/json_syntax_error.h"
#include "datatypes/json/json_text.h"

namespace respite {

namespace {

// Returns true if a text contains half of a surrogate pair, which is not valid UTF-8. RapidJSON produces it from an
// escape such as "\ude00".
bool HasSurrogate(Bytes text) {
  for (size_t at = text.find('\xed'); at != Bytes::npos; at = text.find('\xed', at + 1)) {
    if (at + 1 < text.size() && ByteAt(text, at + 1) >= 0xa0) return true;
  }
  return false;
}

// Builds a value from the events of the parser. Finished values wait on a stack until their container ends.
class JsonBuilder {
 public:
  explicit JsonBuilder(size_t max_depth) : max_depth_(max_depth) {}

  bool Null() { return Push({}); }
  bool Bool(bool value) { return Push(JsonValue::Boolean(value)); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    JsonValue number = ParseJsonNumber({text, size});
    return number.IsNumeric() && Push(std::move(number));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return !HasSurrogate({text, size}) && Push(JsonValue::String({text, size}));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) { return String(text, size, true); }
  bool StartObject() { return Begin(); }
  bool EndObject(rapidjson::SizeType count) { return End(2 * size_t{count}, JsonValue::ObjectOf); }
  bool StartArray() { return Begin(); }
  bool EndArray(rapidjson::SizeType count) { return End(count, JsonValue::ArrayOf); }
  // RapidJSON does not compile without these functions, but never calls them: numbers arrive as RawNumber.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  JsonValue Take() { return std::move(stack_.front()); }

 private:
  bool Push(JsonValue value) {
    stack_.push_back(std::move(value));
    return true;
  }
  bool Begin() { return ++depth_ <= max_depth_; }
  bool End(size_t count, JsonValue (*make)(std::span<JsonValue>)) {
    --depth_;
    JsonValue made = make(std::span(stack_).last(count));
    stack_.resize(stack_.size() - count);
    return Push(std::move(made));
  }

  const size_t max_depth_;
  size_t depth_ = 0;
  std::vector<JsonValue> stack_;
};

}  // namespace

Result<JsonValue, std::string> ParseJson(Bytes text, size_t max_depth) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  JsonBuilder builder(max_depth);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  // RapidJSON stops at a NUL byte as if the text had ended. A text with bytes after the end of the value is refused.
  if (result.IsError() || stream.Tell() != text.size()) return Failure(DescribeJsonError(text, max_depth));
  return builder.Take();
}

}  // namespace respite
