#include "datatypes/json/json_parser.h"

#include <cstddef>
#include <utility>
#include <vector>

// This file uses RapidJSON without its support for std::string.
#define RAPIDJSON_HAS_STDSTRING 0
#include <rapidjson/error/error.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "base/str_cat.h"
#include "datatypes/json/json_text.h"

namespace respite {

namespace {

// Returns true if a text has half of a surrogate pair. RapidJSON accepts "\ude00".
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
    if (number.Is(JsonKind::kNull)) return Refuse("number out of range");
    return Push(std::move(number));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (HasSurrogate({text, size})) return Refuse("lone trailing surrogate in hex escape");
    return Push(JsonValue::String({text, size}));
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
  const char* refusal() const { return refusal_; }

 private:
  bool Push(JsonValue value) {
    stack_.push_back(std::move(value));
    return true;
  }
  bool Refuse(const char* reason) {
    refusal_ = reason;
    return false;
  }
  bool Begin() { return ++depth_ <= max_depth_ || Refuse("recursion limit exceeded"); }
  bool End(size_t count, JsonValue (*make)(std::span<JsonValue>)) {
    --depth_;
    JsonValue made = make(std::span(stack_).last(count));
    stack_.resize(stack_.size() - count);
    return Push(std::move(made));
  }

  const size_t max_depth_;
  size_t depth_ = 0;
  std::vector<JsonValue> stack_;
  const char* refusal_ = nullptr;
};

const char* ReasonFor(rapidjson::ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentEmpty:
      return "EOF while parsing a value";
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "trailing characters";
    case rapidjson::kParseErrorObjectMissName:
      return "key must be a string";
    case rapidjson::kParseErrorObjectMissColon:
      return "expected `:`";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected `,` or `}`";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "expected `,` or `]`";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
    case rapidjson::kParseErrorStringEscapeInvalid:
      return "invalid escape";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "lone leading surrogate in hex escape";
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "EOF while parsing a string";
    case rapidjson::kParseErrorStringInvalidEncoding:
      return "control character (\\u0000-\\u001F) found while parsing a string";
    case rapidjson::kParseErrorNumberTooBig:
      return "number out of range";
    case rapidjson::kParseErrorNumberMissFraction:
    case rapidjson::kParseErrorNumberMissExponent:
      return "invalid number";
    default:
      return "expected value";
  }
}

std::string WithPlace(Bytes text, size_t offset, const char* reason) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n' ? 1 : 0;
  }
  return StrCat(reason, " at line ", line, " column ", column);
}

}  // namespace

Result<JsonValue, std::string> ParseJson(Bytes text, size_t max_depth) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  JsonBuilder builder(max_depth);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (result.IsError()) {
    const bool is_encoding = result.Code() == rapidjson::kParseErrorStringInvalidEncoding;
    const bool has_bad_byte = is_encoding && result.Offset() < text.size() && ByteAt(text, result.Offset()) >= 0x80;
    const char* const reason = builder.refusal() != nullptr ? builder.refusal()
                               : has_bad_byte               ? "invalid unicode code point"
                                                            : ReasonFor(result.Code());
    return Failure(WithPlace(text, result.Offset(), reason));
  }
  // RapidJSON stops at a NUL byte as if the text had ended.
  if (stream.Tell() != text.size()) return Failure(WithPlace(text, stream.Tell(), "trailing characters"));
  return builder.Take();
}

}  // namespace respite
