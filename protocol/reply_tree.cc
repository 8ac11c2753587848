#include "protocol/reply_tree.h"

#include <algorithm>
#include <utility>

#include "base/number_text.h"

namespace respite {

namespace {

constexpr size_t kReservedAtMost = 1024;  // limit, because a header may announce more elements than arrive
constexpr size_t kFormatBytes = 4;        // "txt:"
constexpr size_t kTidyFrom = 64 * 1024;

constexpr int64_t kNoCount = -1;

std::string Braced(const std::vector<ReplyTree>& pairs) {
  std::string out = "{";
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i != 0) out += i % 2 == 1 ? ": " : ", ";
    out += pairs[i].ReadableText();
  }
  return out + "}";
}

std::string Bracketed(const std::vector<ReplyTree>& elements) {
  std::string out = "[";
  for (size_t i = 0; i < elements.size(); ++i) out += (i == 0 ? "" : ", ") + elements[i].ReadableText();
  return out + "]";
}

std::string WithoutAttributes(const ReplyTree& reply) {
  switch (reply.kind) {
    case ReplyKind::kSimple:
      return "+" + reply.text;
    case ReplyKind::kError:
      return "-" + reply.text;
    case ReplyKind::kInteger:
      return std::to_string(reply.integer);
    case ReplyKind::kBulk:
      return Quoted(reply.text);
    case ReplyKind::kArray:
      return Bracketed(reply.children);
    case ReplyKind::kNull:
      return "nil";
    case ReplyKind::kNullArray:
      return "nil-array";
    case ReplyKind::kBool:
      return reply.integer != 0 ? "true" : "false";
    case ReplyKind::kDouble:
      return "," + reply.text;
    case ReplyKind::kBigNumber:
      return "(" + reply.text;
    case ReplyKind::kBulkError:
      return "!" + Quoted(reply.text);
    case ReplyKind::kVerbatim:
      return "=" + reply.format + ":" + Quoted(reply.text);
    case ReplyKind::kMap:
      return Braced(reply.children);
    case ReplyKind::kSet:
      return "~" + Bracketed(reply.children);
    case ReplyKind::kPush:
      return ">" + Bracketed(reply.children);
  }
  return "?";
}

ReplyKind AggregateKind(char kind) {
  switch (kind) {
    case '%':
      return ReplyKind::kMap;
    case '~':
      return ReplyKind::kSet;
    case '>':
      return ReplyKind::kPush;
    default:
      return ReplyKind::kArray;
  }
}

}  // namespace

std::string ReplyTree::ReadableText() const {
  if (attributes.empty()) return WithoutAttributes(*this);
  return "|" + Braced(attributes) + " " + WithoutAttributes(*this);
}

std::optional<ReplyTree> ReplyTreeParser::Next() {
  if (Failed()) return std::nullopt;
  while (!done_) {
    switch (ReadElement()) {
      case Step::kElement:
        AddToParent(std::exchange(node_, {}));
        break;
      case Step::kOpened:
        break;
      case Step::kIncomplete:
      case Step::kFailed:
        return std::nullopt;
    }
  }
  reply_begin_ = pos_;
  if (pos_ == buffer_.size() || pos_ >= kTidyFrom) {
    buffer_.erase(0, pos_);
    pos_ = searched_ = reply_begin_ = 0;
  }
  return std::exchange(done_, std::nullopt);
}

ReplyTreeParser::Step ReplyTreeParser::ReadElement() {
  size_t line_end = buffer_.find("\r\n", std::max(pos_, searched_));
  if (line_end == std::string::npos) {
    // The next search for a line end begins at the last byte, which may be the CR of the line end.
    searched_ = std::max(pos_, buffer_.size() - std::min<size_t>(buffer_.size(), 1));
    return Step::kIncomplete;
  }
  searched_ = line_end;
  Bytes line(buffer_.data() + pos_, line_end - pos_);
  if (line.empty()) return Fail("an empty line where a reply should begin");
  char kind = line[0];
  line.remove_prefix(1);
  size_t after_line = line_end + 2;
  if (kind == '$' || kind == '!' || kind == '=') return ReadText(kind, line, after_line);
  Step step = Bytes("*%~>|").find(kind) != Bytes::npos ? OpenAggregate(kind, line) : ReadLine(kind, line);
  if (step != Step::kFailed) pos_ = after_line;
  return step;
}

ReplyTreeParser::Step ReplyTreeParser::ReadLine(char kind, Bytes line) {
  node_ = {.kind = ReplyKind::kSimple, .text = std::string(line)};
  switch (kind) {
    case '+':
      return Step::kElement;
    case '-':
      node_.kind = ReplyKind::kError;
      return Step::kElement;
    case '(':
      node_.kind = ReplyKind::kBigNumber;
      return Step::kElement;
    case ':': {
      auto value = ParseInteger(line);
      if (!value) return Fail("not an integer: " + Quoted(line));
      node_ = {.kind = ReplyKind::kInteger, .integer = *value};
      return Step::kElement;
    }
    case ',': {
      auto value = ParseDouble(line);
      if (!value && line != "nan") return Fail("not a double: " + Quoted(line));
      node_.kind = ReplyKind::kDouble;
      node_.number = value.value_or(0);
      return Step::kElement;
    }
    case '#':
      if (line != "t" && line != "f") return Fail("not a bool: " + Quoted(line));
      node_ = {.kind = ReplyKind::kBool, .integer = line == "t" ? 1 : 0};
      return Step::kElement;
    case '_':
      if (!line.empty()) return Fail("null with a text: " + Quoted(line));
      node_ = {};
      return Step::kElement;
    default:
      return Fail("no reply begins with " + Quoted(Bytes(&kind, 1)));
  }
}

ReplyTreeParser::Step ReplyTreeParser::ReadText(char kind, Bytes line, size_t text_begin) {
  auto size = ParseInteger(line);
  if (kind == '$' && size == kNoCount) {
    node_ = {};
    pos_ = text_begin;
    return Step::kElement;
  }
  if (!size || *size < 0) return Fail("not the size of a text: " + Quoted(line));
  size_t there = buffer_.size() - text_begin;
  size_t wanted = static_cast<size_t>(*size);
  if (there < wanted || there - wanted < 2) {
    searched_ = pos_;  // the line will be read again, and its end is found immediately
    return Step::kIncomplete;
  }
  if (buffer_.compare(text_begin + wanted, 2, "\r\n") != 0) return Fail("a text is longer than announced");
  Bytes text(buffer_.data() + text_begin, wanted);
  node_ = {.kind = kind == '$' ? ReplyKind::kBulk : ReplyKind::kBulkError};
  if (kind == '=') {
    if (wanted < kFormatBytes || text[3] != ':') return Fail("a verbatim text without format");
    node_.kind = ReplyKind::kVerbatim;
    node_.format = text.substr(0, 3);
    text.remove_prefix(kFormatBytes);
  }
  node_.text = text;
  pos_ = text_begin + wanted + 2;
  return Step::kElement;
}

ReplyTreeParser::Step ReplyTreeParser::OpenAggregate(char kind, Bytes line) {
  auto count = ParseInteger(line);
  if (kind == '*' && count == kNoCount) {
    node_ = {.kind = ReplyKind::kNullArray};
    return Step::kElement;
  }
  if (!count || *count < 0 || *count > INT32_MAX) return Fail("not a number of elements: " + Quoted(line));
  bool is_attribute = kind == '|';
  size_t elements = static_cast<size_t>(*count) * (kind == '%' || is_attribute ? 2 : 1);
  node_ = {.kind = AggregateKind(kind)};
  if (elements == 0) return is_attribute ? Step::kOpened : Step::kElement;
  if (open_.size() == kMaxDepth) return Fail("nested too deeply");
  // An attribute before an aggregate belongs to the aggregate, not to its first element.
  node_.attributes = std::exchange(attributes_, {});
  node_.children.reserve(std::min(elements, kReservedAtMost));
  open_.push_back({std::exchange(node_, {}), elements, is_attribute});
  return Step::kOpened;
}

ReplyTreeParser::Step ReplyTreeParser::Fail(std::string what) {
  error_ = std::move(what);
  return Step::kFailed;
}

// Adds an element to its parent. If this completes the parent, also adds the parent to its own parent, and so on.
void ReplyTreeParser::AddToParent(ReplyTree node) {
  for (;;) {
    if (!attributes_.empty()) node.attributes = std::exchange(attributes_, {});
    if (open_.empty()) {
      done_ = std::move(node);
      return;
    }
    open_.back().node.children.push_back(std::move(node));
    if (--open_.back().left != 0) return;
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.is_attribute) {
      attributes_ = std::move(closed.node.children);
      return;
    }
    node = std::move(closed.node);
  }
}

}  // namespace respite
