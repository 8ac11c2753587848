// Arguments and replies that the commands of arrays share.
#pragma once

#include <cstdint>
#include <limits>

#include "datatypes/array.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {

inline constexpr char kBadArrayIndex[] = "ERR invalid array index";
inline constexpr char kLimitNotPositive[] = "ERR LIMIT must be positive";

}  // namespace refusals

inline uint64_t ArrayIndexOf(Bytes word) {  // parses an index; throws if there can be no element with this index
  const auto index = ParseUnsigned(word);
  if (!index || *index > ArrayTable::kMaxIndex) throw Refusal{refusals::kBadArrayIndex};
  return *index;
}
inline uint64_t TakeArrayIndex(Call& call) { return ArrayIndexOf(call.args.Next()); }  // takes an index, or throws

// Replies with a number that may be above the greatest integer of RESP. Such a number is a big number under RESP3, and
// a bulk string under RESP2.
inline void ReplyUnsigned(Reply& reply, uint64_t number) {  // replies with an index, or a number of indexes
  if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return reply.BigNumber(IntegerText::FromUnsigned(number));
  }
  reply.Integer(static_cast<int64_t>(number));
}

inline void ReplyElement(Reply& reply, const ArrayElement* element) {  // replies with a text; null: with a null
  element == nullptr ? reply.Null() : reply.Bulk(ArrayText(*element).View());
}

inline void ReplyPair(Reply& reply, uint64_t index, const ArrayElement& element) {  // replies with index and element
  reply.Array(2);
  ReplyUnsigned(reply, index);
  ReplyElement(reply, &element);
}

inline uint64_t TakeArrayLimit(Args& args) {  // takes the value of LIMIT, or throws
  const int64_t limit = args.NextInteger();
  if (limit <= 0) throw Refusal{refusals::kLimitNotPositive};
  return static_cast<uint64_t>(limit);
}

}  // namespace respite
