// Reads and writes JSON documents in RDB form: as values of the module ReJSON-RL, whose content is the JSON text.
#include <memory>
#include <utility>

#include "datatypes/json/json_document.h"
#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_text.h"
#include "persistence/rdb_module.h"
#include "persistence/rdb_types.h"

namespace respite {

RdbValueResult ReadRdbJson(RdbInput& input, const RdbEntryProperties& target) {
  RdbModuleInput parts(input);
  const RdbText text = parts.Text();
  if (input.Failed()) return BadValueFault("a JSON document is no text, or is cut off");
  auto root = ParseJson(text.View());
  if (!root) return BadValueFault("a JSON document is malformed");
  parts.End();
  if (input.Failed()) return BadValueFault("a JSON document has no end");
  return MakeObjectEntry(target, ValueType::kJson, std::make_unique<JsonDocument>(std::move(root).value()));
}

void WriteRdbJson(RdbOutput& out, const Entry& entry) {
  const auto& document = static_cast<const JsonDocument&>(*entry.ObjectValue());
  RdbModuleOutput parts(out, rdb::ModuleNumber(rdb::kJsonModule, rdb::kJsonVersion));
  parts.Text(JsonText(document.root()));
  parts.End();
}

}  // namespace respite
