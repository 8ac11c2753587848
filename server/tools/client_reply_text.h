// The texts of replies as redis-cli prints them.
#pragma once

#include <string>

#include "protocol/reply_tree.h"

namespace respite {

enum class ReplyFormat : uint8_t {
  kTerminal,  // 1) "a" / (integer) 1 / (nil)
  kRaw,       // only the texts; for a map, one line per pair
  kCsv,       // one line: "a",1,NULL
};

struct ReplyStyle {                        // how replies are printed
  ReplyFormat format = ReplyFormat::kRaw;  // formatted for a terminal, raw, or as CSV
  std::string element_delimiter = "\n";    // kRaw: printed between the elements of a reply
  std::string reply_delimiter = "\n";      // kRaw: printed after each reply
};

// Returns the text of a whole reply, with a newline at its end, or with the reply delimiter if the format is kRaw.
std::string ReplyText(const ReplyTree& reply, const ReplyStyle& style);  // the text of a reply, with a line end

// Returns the text of a push message that arrives before a reply.
std::string PushText(const ReplyTree& message, const ReplyStyle& style);  // text of a RESP3 push

// Returns the raw text without a delimiter after it, for replies that contain line ends, such as the reply to INFO.
std::string RawReplyText(const ReplyTree& reply,  // the texts of a reply, without a delimiter at the end
                         const std::string& element_delimiter);

}  // namespace respite
