// LateBound<T>: a reference to an object that code of a higher layer makes later, or that may be missing.
//
// Code that needs an object of a higher layer holds a `const LateBound<Interface>&`. The maker of the object calls
// Attach. The object must outlive its users, or be detached before it is destroyed.
#pragma once

namespace respite {

template <class T>
class LateBound {  // a pointer to an object that is made later, or that may be missing
 public:
  void Attach(T* object) { object_ = object; }  // from now on, the LateBound refers to `object`
  void Detach() { object_ = nullptr; }          // from now on, the LateBound refers to no object
  explicit operator bool() const { return object_ != nullptr; }
  // Requires: an object is attached.
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_ = nullptr;  // null: no object is attached
};

}  // namespace respite
