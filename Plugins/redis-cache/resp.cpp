#include "resp.hpp"

#include <charconv>

namespace resp {
namespace {

/// Lines hold numbers and messages.
constexpr size_t maximum_line = 1024;
/// The longest list is the answer to MGET, with two elements.
constexpr long long maximum_elements = 8;

long long number(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) throw Malformed("a number is malformed");
  return value;
}

}  // namespace

std::string Answer::error_code() const {
  std::string code;
  for (const char byte : text) {
    if (byte < 'A' || byte > 'Z' || code.size() == 32) break;
    code += byte;
  }
  return code.empty() ? "an error" : code;
}

void append_command(std::string &out, std::initializer_list<std::string_view> words) {
  out += '*' + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    out += '$' + std::to_string(word.size()) + "\r\n";
    out += word;
    out += "\r\n";
  }
}

std::optional<Answer> Reader::next() {
  size_t offset = used_;
  auto found = answer(offset, true);
  if (found) {
    used_ = offset;
  } else if (used_ > 0) {
    // Once for each read from the socket, not for each answer.
    buffer_.erase(0, used_);
    used_ = 0;
  }
  return found;
}

std::optional<std::string_view> Reader::line(size_t &offset) const {
  const size_t end = buffer_.find("\r\n", offset);
  if ((end == std::string::npos ? buffer_.size() : end) - offset > maximum_line) throw Malformed("a line is too long");
  if (end == std::string::npos) return std::nullopt;
  const auto found = std::string_view(buffer_).substr(offset, end - offset);
  offset = end + 2;
  return found;
}

std::optional<Answer> Reader::answer(size_t &offset, bool may_nest) {
  if (offset >= buffer_.size()) return std::nullopt;
  const char type = buffer_[offset];
  if (std::string_view("+-:$*").find(type) == std::string_view::npos) throw Malformed("an answer has an unknown type");
  size_t next = offset + 1;
  const auto head = line(next);
  if (!head) return std::nullopt;
  Answer made;
  if (type == '+' || type == '-') {
    made.kind = type == '+' ? Answer::Kind::Status : Answer::Kind::Error;
    made.text = *head;
  } else if (type == ':') {
    number(*head);
    made.kind = Answer::Kind::Integer;
    made.text = *head;
  } else if (const long long length = number(*head); length == -1) {
    made.kind = Answer::Kind::Null;
  } else if (type == '$') {
    if (length < 0 || static_cast<unsigned long long>(length) > maximum_text_) throw Malformed("a text is too long");
    const auto size = static_cast<size_t>(length);
    if (buffer_.size() - next < size + 2) return std::nullopt;
    if (buffer_.compare(next + size, 2, "\r\n") != 0) throw Malformed("a text has another length than it says");
    made.kind = Answer::Kind::Text;
    made.text = buffer_.substr(next, size);
    next += size + 2;
  } else {
    if (!may_nest) throw Malformed("a list is nested");
    if (length < 0 || length > maximum_elements) throw Malformed("a list is too long");
    made.kind = Answer::Kind::List;
    for (long long index = 0; index < length; index++) {
      auto element = answer(next, false);
      if (!element) return std::nullopt;
      made.elements.push_back(std::move(*element));
    }
  }
  offset = next;
  return made;
}

}  // namespace resp
