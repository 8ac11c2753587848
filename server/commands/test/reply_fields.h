// Writes a map reply, field by field.
#pragma once

#include "base/bytes.h"
#include "protocol/reply.h"
#include "server/lab/request_owner.h"

namespace respite {

class ReplyFields {
 public:
  static constexpr size_t kOfClient = 5;  // fields that Client writes

  ReplyFields(Reply& reply, size_t fields) : reply_(reply) { reply_.Map(fields); }
  ReplyFields& Text(Bytes name, Bytes value) {
    reply_.Bulk(name);
    reply_.Bulk(value);
    return *this;
  }
  ReplyFields& Number(Bytes name, int64_t value) {
    reply_.Bulk(name);
    reply_.Integer(value);
    return *this;
  }
  ReplyFields& Client(const RequestOwner& client) {
    Number("id", static_cast<int64_t>(client.id));
    return Text("name", client.name).Text("lib", client.library).Text("addr", client.address).Text("user", client.user);
  }

 private:
  Reply& reply_;
};

}  // namespace respite
