// The protocol of Redis, RESP2: commands out, answers in. No input or output happens here.
#ifndef REDIS_CACHE_RESP_HPP
#define REDIS_CACHE_RESP_HPP

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace resp {

/// The bytes are not an answer as the commands of this plugin have it.
class Malformed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An answer of the server.
struct Answer {
  enum class Kind { Status, Error, Integer, Text, Null, List };

  Kind kind = Kind::Null;
  /// Of all kinds but lists.
  std::string text = {};
  std::vector<Answer> elements = {};

  /// The first word of an error, such as NOAUTH. The rest may repeat what was sent, so it is not for logs.
  std::string error_code() const;
};

/// Appends a command to `out`.
void append_command(std::string &out, std::initializer_list<std::string_view> words);

/// Splits a stream into answers. It holds at most `maximum_text` bytes and a line.
class Reader {
 public:
  explicit Reader(size_t maximum_text) : maximum_text_(maximum_text) {}

  void add(std::string_view bytes) { buffer_.append(bytes); }
  /// The next answer; nothing if more bytes are needed. Throws Malformed.
  std::optional<Answer> next();

 private:
  std::optional<Answer> answer(size_t &offset, bool may_nest);
  std::optional<std::string_view> line(size_t &offset) const;

  const size_t maximum_text_;
  std::string buffer_;
  /// The bytes of answers that were returned.
  size_t used_ = 0;
};

}  // namespace resp

#endif
