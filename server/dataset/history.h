// History: which history the data has, and how far it goes. Replicas ask for a history by its id and an offset; a
// snapshot keeps them.
//
// The history of a primary is the stream of its effects, in bytes. A replica has the history of its primary. A server
// that becomes a primary begins a history of its own under a new id, but remembers the old id and where it ended: other
// replicas of the former primary may go on from there (PSYNC2).
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"

namespace respite {

struct History {
  static constexpr size_t kIdLength = 40;
  static constexpr int64_t kLongest = int64_t{1} << 60;  // larger offsets of a peer are invalid

  std::string id = RandomHex(kIdLength);
  int64_t offset = 0;  // bytes so far
  std::string former_id = std::string(kIdLength, '0');
  int64_t former_end = -1;  // the former history and this one are the same up to here; -1: there is none
  int stream_db = 0;        // what the stream has selected at `offset`
  bool is_shared = false;   // replicas have it, or it is a primary's: snapshots keep it

  // Whether the data here is a state of the primary's history. On a primary it always is kWhole.
  enum class Data : uint8_t {
    kWhole,     // the state of the history at `offset`
    kNone,      // a replica has dropped its data, or never had any, and its primary's is not loaded
    kDiverged,  // a command of the primary failed here, so its effect is missing
    kOther,     // the state of this history at `offset`, but the primary to follow may have another one
  };
  // Whether the server to follow has this history (kSame) or may have another one, as far as is known before it is
  // asked.
  enum class Owner : uint8_t { kSame, kOther };
  Data data = Data::kWhole;

  // Whether this server may take the place of its primary without an operator's command.
  bool IsWhole() const { return data == Data::kWhole; }
  // Whether the data is a state of this history, so that another server may be asked to continue it.
  bool IsKnown() const { return data == Data::kWhole || data == Data::kOther; }
  // Whether the bytes after `from` of the history `asked_id` are the same as here.
  bool Covers(const std::string& asked_id, int64_t from) const {
    return asked_id == id || (former_end >= 0 && asked_id == former_id && from <= former_end);
  }
  // Begins a new history; the old one ends here.
  void Fork(std::string new_id) {
    former_id = std::move(id);
    former_end = offset + 1;
    id = std::move(new_id);
  }
  void Fork() { Fork(RandomHex(kIdLength)); }
  // Takes over the history of another server.
  void Adopt(std::string other_id, int64_t other_offset) {
    id = std::move(other_id);
    offset = other_offset;
    ForgetFormer();
  }
  void ForgetFormer() {
    former_id.assign(kIdLength, '0');
    former_end = -1;
  }
};

}  // namespace respite
