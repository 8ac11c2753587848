#include "server/tools/client_reply_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/bytes.h"
#include "base/str_cat.h"

namespace respite {

namespace {

bool IsAggregate(const ReplyTree& reply) {
  return reply.kind == ReplyKind::kArray || reply.kind == ReplyKind::kMap || reply.kind == ReplyKind::kSet ||
         reply.kind == ReplyKind::kPush;
}

// Returns the number of elements of an array or set, and of a map the number of pairs.
size_t EntriesOf(const ReplyTree& reply) {
  return reply.kind == ReplyKind::kMap ? reply.children.size() / 2 : reply.children.size();
}

char EntryMark(ReplyKind kind) {
  switch (kind) {
    case ReplyKind::kMap:
      return '#';
    case ReplyKind::kSet:
      return '~';
    default:
      return ')';
  }
}

std::string EmptyAggregateText(ReplyKind kind) {
  switch (kind) {
    case ReplyKind::kMap:
      return "(empty hash)";
    case ReplyKind::kSet:
      return "(empty set)";
    default:
      return "(empty array)";
  }
}

// Returns the text of a reply that is no array, set or map, without a line end.
std::string TerminalScalarText(const ReplyTree& reply) {
  switch (reply.kind) {
    case ReplyKind::kError:
    case ReplyKind::kBulkError:
      return "(error) " + reply.text;
    case ReplyKind::kInteger:
      return StrCat("(integer) ", reply.integer);
    case ReplyKind::kDouble:
      return "(double) " + reply.text;
    case ReplyKind::kBool:
      return reply.integer != 0 ? "(true)" : "(false)";
    case ReplyKind::kBulk:
      return Quoted(reply.text);
    case ReplyKind::kNull:
    case ReplyKind::kNullArray:
      return "(nil)";
    default:
      return reply.text;
  }
}

bool HasSeveralLines(const ReplyTree& reply) {
  if (!IsAggregate(reply)) return false;
  return EntriesOf(reply) > 1 || std::ranges::any_of(reply.children, HasSeveralLines);
}

void AppendTerminalText(std::string& out, const ReplyTree& reply, std::string& indent);

// Appends "key => " for an entry of a map, and a line end if the value has several lines.
void AppendMapKey(std::string& out, const ReplyTree& key, const ReplyTree& value, std::string& indent) {
  AppendTerminalText(out, key, indent);
  if (out.ends_with('\n')) out.pop_back();
  out += " => ";
  if (HasSeveralLines(value)) out += "\n" + indent;
}

// Appends the text of a reply to `out`, with `indent` before each line except the first.
void AppendTerminalText(std::string& out, const ReplyTree& reply, std::string& indent) {
  if (!IsAggregate(reply) || reply.children.empty()) {
    out += (IsAggregate(reply) ? EmptyAggregateText(reply.kind) : TerminalScalarText(reply)) + "\n";
    return;
  }
  const size_t entries = EntriesOf(reply);
  const size_t width = std::to_string(entries).size();
  const size_t outer = indent.size();
  for (size_t i = 0; i < entries; ++i) {
    const std::string number = std::to_string(i + 1);
    if (i != 0) out += indent;
    out += std::string(width - number.size(), ' ') + number + EntryMark(reply.kind) + ' ';
    indent.append(width + 2, ' ');
    const bool is_map = reply.kind == ReplyKind::kMap;
    if (is_map) AppendMapKey(out, reply.children[2 * i], reply.children[2 * i + 1], indent);
    AppendTerminalText(out, reply.children[is_map ? 2 * i + 1 : i], indent);
    indent.resize(outer);
  }
}

std::string RawScalarText(const ReplyTree& reply) {
  switch (reply.kind) {
    case ReplyKind::kError:
    case ReplyKind::kBulkError:
      return reply.text + "\n";
    case ReplyKind::kInteger:
      return std::to_string(reply.integer);
    case ReplyKind::kBool:
      return reply.integer != 0 ? "(true)" : "(false)";
    default:
      return reply.text;
  }
}

void AppendRawText(std::string& out, const ReplyTree& reply, const std::string& delimiter) {
  if (!IsAggregate(reply)) {
    out += RawScalarText(reply);
    return;
  }
  const bool is_map = reply.kind == ReplyKind::kMap;
  for (size_t i = 0; i < reply.children.size(); ++i) {
    if (i != 0) out += is_map && i % 2 == 1 ? " " : delimiter;
    AppendRawText(out, reply.children[i], delimiter);
  }
}

void AppendCsvText(std::string& out, const ReplyTree& reply) {
  if (IsAggregate(reply)) {
    for (size_t i = 0; i < reply.children.size(); ++i) {
      if (i != 0) out += ',';
      AppendCsvText(out, reply.children[i]);
    }
  } else if (reply.IsError()) {
    out += "ERROR," + Quoted(reply.text);
  } else if (reply.IsNull()) {
    out += "NULL";
  } else if (reply.kind == ReplyKind::kInteger) {
    out += std::to_string(reply.integer);
  } else if (reply.kind == ReplyKind::kBool) {
    out += reply.integer != 0 ? "true" : "false";
  } else if (reply.kind == ReplyKind::kDouble || reply.kind == ReplyKind::kBigNumber) {
    out += reply.text;
  } else {
    out += Quoted(reply.text);
  }
}

// Returns the line to print when the server says that cached keys are invalid (client tracking). Returns nullopt for
// any other message.
std::optional<std::string> InvalidationText(const ReplyTree& message) {
  const auto& parts = message.children;
  if (parts.size() != 2 || parts[0].text != "invalidate" || parts[1].kind != ReplyKind::kArray) return std::nullopt;
  std::string out;
  for (const ReplyTree& key : parts[1].children) out += (out.empty() ? "-> invalidate: '" : ", '") + key.text + "'";
  return out + "\n";
}

}  // namespace

std::string PushText(const ReplyTree& message, const ReplyStyle& style) {
  const auto invalidation = style.format == ReplyFormat::kTerminal ? InvalidationText(message) : std::nullopt;
  return invalidation ? *invalidation : ReplyText(message, style);
}

std::string RawReplyText(const ReplyTree& reply, const std::string& element_delimiter) {
  std::string out;
  AppendRawText(out, reply, element_delimiter);
  return out;
}

std::string ReplyText(const ReplyTree& reply, const ReplyStyle& style) {
  if (style.format == ReplyFormat::kRaw) return RawReplyText(reply, style.element_delimiter) + style.reply_delimiter;
  std::string out;
  std::string indent;
  if (style.format == ReplyFormat::kTerminal) {
    AppendTerminalText(out, reply, indent);
  } else {
    AppendCsvText(out, reply);
    out += '\n';
  }
  return out;
}

}  // namespace respite
