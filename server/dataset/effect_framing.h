// Frames the propagated commands of one Unit for a file or a stream: adds SELECT where the database changes, and MULTI
// and EXEC around several commands. As in Redis 7, SELECT comes inside MULTI.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "protocol/request_text.h"
#include "server/dataset/journal.h"

namespace respite {

// Calls `take.Piece(Bytes)` with each command for `target`, and `take.Select(std::string)` with each SELECT, in order.
// `selected_db` is the database selected last (-1: none), and is updated.
template <class Take>
void FrameEffects(const UnitEffects& effects, JournalEntry::Target target, int& selected_db, Take&& take) {
  size_t wanted = 0;
  for (size_t i = 0; i < effects.Count(); ++i) wanted += (effects[i].targets & target) != 0 ? 1 : 0;
  if (wanted > 1) take.Piece("*1\r\n$5\r\nMULTI\r\n");
  for (size_t i = 0; i < effects.Count(); ++i) {
    const JournalEntry entry = effects[i];
    if ((entry.targets & target) == 0) continue;
    if (entry.db != selected_db) {
      selected_db = entry.db;
      std::string select;
      RequestWriter(select, 2).Word("SELECT").Integer(entry.db);
      take.Select(std::move(select));
    }
    take.Piece(entry.request);
  }
  if (wanted > 1) take.Piece("*1\r\n$4\r\nEXEC\r\n");
}

}  // namespace respite
