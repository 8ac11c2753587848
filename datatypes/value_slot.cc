#include "datatypes/value_slot.h"

#include <cstring>

namespace respite {

void ValueSlot::UpdateView() {
  bool packed = entry_ != nullptr && entry_->Form() != ValueForm::kObject;
  data_ = packed ? entry_->MutablePacked() : nullptr;
  size_ = packed ? entry_->Packed().size() : 0;
}

char* ValueSlot::Splice(size_t offset, size_t removed, size_t inserted) {
  const size_t tail = size_ - offset - removed;
  if (inserted > removed) entry_ = database_->Resize(entry_, size_ + inserted - removed);
  char* place = entry_->MutablePacked() + offset;
  if (inserted != removed && tail > 0) std::memmove(place + inserted, place + removed, tail);
  if (inserted < removed) entry_ = database_->Resize(entry_, size_ + inserted - removed);
  UpdateView();
  return data_ + offset;
}

void ValueSlot::ConvertTo(ValueForm form, Bytes packed) {
  if (entry_->Form() == ValueForm::kObject) entry_->ReleaseObject();
  entry_ = database_->StoreCollection(entry_, form, packed);
  UpdateView();
}

void ValueSlot::ConvertTo(std::unique_ptr<Object> object) {
  if (entry_->Form() == ValueForm::kObject) entry_->ReleaseObject();
  entry_ = database_->StoreCollection(entry_, std::move(object));
  UpdateView();
}

}  // namespace respite
