// JsonPathParser: reads a path or an expression (see json_path.h and json_expression.h) by recursive descent.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "datatypes/json/json_expression.h"
#include "datatypes/json/json_path.h"

namespace respite {

class JsonPathParser {  // reads one path
 public:
  explicit JsonPathParser(Bytes text) : text_(text) {}

  bool ParsePath();        // reads steps after "$"; false: the text is malformed, or has something else after them
  bool ParseExpression();  // reads a path or a computation; false: the text is malformed
  JsonPath TakePath();     // requires: a function above has returned true
  size_t ErrorOffset() const { return furthest_; }    // where the text is malformed
  const char* Expected() const { return expected_; }  // what the text should have there

 private:
  using Node = std::unique_ptr<JsonExpression>;

  // Each function that returns a Node returns null if the text is malformed.
  Node Or();
  Node And();
  Node Not();
  Node Comparison();
  Node Sum();
  Node Product();
  Node Unary();
  Node Postfix();
  Node Primary();
  Node Call(JsonFunction function, Node receiver);  // after "name("; `receiver`: the first argument, or null
  Node JsonLiteral();                               // an array or an object
  Node NumberLiteral();
  Node Binary(JsonOperator op, Node left, Node right);

  bool Steps(JsonSteps& steps);  // reads all steps that follow: .name, [0] …; false: malformed
  bool DotStep(JsonStep& step);  // after "." or ".."
  bool Bracket(JsonStep& step);  // after "["
  bool Names(JsonStep& step);
  bool IndexesOrSlice(JsonStep& step);
  bool SliceAfter(JsonStep& step, std::optional<int64_t> start);
  bool String(std::string& text);     // reads a text in either kind of quotes
  bool Escape(std::string& text);     // after a backslash
  bool CodePoint(std::string& text);  // after "\u"
  bool Index(int64_t& index);
  Bytes Name();         // reads a name after a dot; empty: there is none
  bool IsMethodCall();  // true: ".name(" is next

  bool Fail(const char* expected) {  // records an error; returns false
    if (at_ >= furthest_) {
      furthest_ = at_;
      expected_ = expected;
    }
    return false;
  }
  Node FailNode(const char* expected) {
    Fail(expected);
    return nullptr;
  }
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool Take(Bytes token) {  // true: the text continues with `token`, which is skipped
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool TakeWord(Bytes word);  // like Take, but no letter or digit may follow
  void SkipBlanks() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  const Bytes text_;
  size_t at_ = 0;
  size_t nesting_ = 0;    // parentheses, filters and functions that are open
  size_t operators_ = 0;  // number of operators so far
  size_t furthest_ = 0;
  const char* expected_ = "a path";
  JsonSteps steps_;  // after ParsePath, or if the expression is a plain path
  Node computed_;    // after ParseExpression, unless it is a plain path
};

}  // namespace respite
