#include "self_tests.hpp"

#include <random>

#include "entry.hpp"
#include "freshness.hpp"
#include "json.hpp"
#include "resp.hpp"
#include "settings.hpp"

namespace self_tests {
namespace {

void expect(bool is_true, const std::string &what) {
  if (!is_true) throw crb::Failure(what);
}

/// Whether a stream is refused, instead of waiting for more or being accepted.
bool is_refused(const std::string &stream, size_t maximum = 1024) {
  resp::Reader reader(maximum);
  try {
    reader.add(stream);
    while (reader.next()) {
    }
  } catch (const resp::Malformed &) {
    return true;
  }
  return false;
}

}  // namespace

void answers_in_pieces() {
  const std::string stream = "+OK\r\n-WRONGPASS no\r\n:-7\r\n$5\r\na\r\nb\r\r\n$-1\r\n*2\r\n$-1\r\n$0\r\n\r\n*-1\r\n*0\r\n";
  for (size_t cut = 0; cut <= stream.size(); cut++) {
    resp::Reader reader(16);
    std::vector<resp::Answer> answers;
    for (const auto piece : {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
      reader.add(piece);
      while (auto answer = reader.next()) answers.push_back(std::move(*answer));
    }
    const std::string place = "cut at byte " + std::to_string(cut) + ": ";
    expect(answers.size() == 8, place + std::to_string(answers.size()) + " answers instead of 8");
    expect(answers[1].kind == resp::Answer::Kind::Error && answers[1].error_code() == "WRONGPASS", place + "the error is another one");
    // The length decides, not the end of a line.
    expect(answers[3].kind == resp::Answer::Kind::Text && answers[3].text == "a\r\nb\r", place + "the text is another one");
    expect(answers[5].elements.size() == 2 && answers[5].elements[0].kind == resp::Answer::Kind::Null, place + "the list is another one");
  }
}

void hostile_answers() {
  const std::string hostile[] = {
      "HTTP/1.1 400 Bad Request\r\n", std::string(2000, '+'), "+" + std::string(2000, 'x'), "$1025\r\n", "$-2\r\n", "$99999999999999999999\r\n",
      "$ 5\r\n", "$5x\r\n", "$\r\n", "$1\r\nab\r\n", "*9\r\n", "*-2\r\n", "*1\r\n*1\r\n", "*2147483648\r\n", ":\r\n", ":1.5\r\n", "%1\r\n", "_\r\n",
      std::string(1, '\0'), "*1\r\n%0\r\n"};
  for (const std::string &stream : hostile) expect(is_refused(stream), "a malformed answer was accepted: " + stream.substr(0, 20));
  // No bytes may do more than to be refused.
  std::minstd_rand random(1);
  const std::string letters = "*$+-:0123456789\r\n\r\n\r\nabc";
  for (int round = 0; round < 2000; round++) {
    std::string stream;
    for (size_t length = random() % 64; length > 0; length--) stream += letters[random() % letters.size()];
    is_refused(stream, 16);
  }
}

void keys() {
  const auto digest = [](std::string_view variables, std::string_view user, std::string_view document = "{ a }") {
    entry::Request request;
    request.document = document;
    request.variables = variables;
    request.headers = {{"authorization", {}}, {"x-user", {user}}};
    return entry::digest(request);
  };
  const std::string one = digest(R"({"a": 1, "b": {"c": [1, 2], "d": null}})", "ada");
  expect(one.size() == 64, "a digest has another length");
  expect(one == digest(R"({"b":{"d":null,"c":[1,2]},"a":1})", "ada"), "the order of members changes the key");
  expect(one != digest(R"({"b":{"d":null,"c":[2,1]},"a":1})", "ada"), "the order of a list does not change the key");
  expect(one != digest(R"({"a": 1, "b": {"c": [1, 2], "d": null}})", "bob"), "a header does not change the key");
  expect(one != digest(R"({"a": 1, "b": {"c": [1, 2], "d": null}})", "ada", "{ b }"), "the document does not change the key");
  expect(digest(R"({"a":1,"a":2})", "") != digest(R"({"a":2,"a":1})", ""), "members of the same name are confused");
  // JSON that cannot be sorted is used as it is.
  const std::string deep = std::string(100000, '[');
  expect(digest(deep, "") == digest(deep, "") && digest(deep, "") != digest(deep + "[", ""), "a deep value is confused with another one");
  entry::Request first, second, third;
  first.headers = {{"a", {"b", "c"}}};
  second.headers = {{"a", {"b;1:c"}}};
  third.headers = {{"a", {"b", "c", ""}}};
  expect(entry::digest(first) != entry::digest(second) && entry::digest(first) != entry::digest(third), "several values of a header are confused");
  first = second = {};
  first.variables = "";
  expect(entry::digest(first) != entry::digest(second), "an absent part is confused with an empty one");
}

void entries() {
  const std::string json = R"({"data":{"a":"ü\u00e9"}})";
  const std::string bytes = entry::stored("7", json);
  expect(entry::json_of(bytes, "7") == json, "an entry is not read again");
  expect(!entry::json_of(bytes, "8") && !entry::json_of(bytes, "") && !entry::json_of(bytes, "70"), "an entry of another epoch is valid");
  for (size_t length = 0; length < bytes.size(); length++) {
    expect(!entry::json_of(std::string_view(bytes).substr(0, length), "7"), "an entry that was cut is valid");
  }
  const std::string bad[] = {"[]", "{\"a\":01}", "{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xc0\x80\"}",
                             "{\"a\":\"\xf0\x9f\x98\"}", "{}x", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{a:1}", "{\"a\":1,}", "{\"a\" 1}", "",
                             "{\"a\":" + std::string(100000, '[')};
  for (const std::string &text : bad) expect(!json::is_object(text), "this is accepted as JSON: " + text.substr(0, 20));
  for (const char *text : {"{}", " {\"a\" : [ ] } ", R"({"a":[-0,1.5e-7,true,false,null,"\"\\\/\b\u0000"],"b":{}})", "{\"a\":\"\xf0\x9f\x98\x80\"}"}) {
    expect(json::is_object(text), std::string("this is not accepted as JSON: ") + text);
  }
}

void cache_control() {
  const auto seconds = [](std::initializer_list<const char *> fields) {
    freshness::CacheControl control;
    for (const char *field : fields) control.add(field);
    return control.seconds().value_or(-1);
  };
  expect(seconds({}) == -1 && seconds({"public"}) == -1 && seconds({",,;=,"}) == -1, "there is an age where none was given");
  expect(seconds({"max-age=30"}) == 30 && seconds({" Public , MAX-AGE = \"30\" "}) == 30, "the age is another one");
  expect(seconds({"max-age=30, s-maxage=5"}) == 5 && seconds({"s-maxage=50", "max-age=3"}) == 50, "the age of shared caches does not win");
  expect(seconds({"max-age=30", "max-age=3"}) == 3, "the longer of two ages wins");
  for (const char *field : {"no-store", "max-age=30, private", "no-cache=\"a\"", "max-age=", "max-age=x", "max-age=-1", "max-age=1x"}) {
    expect(seconds({field}) == 0, std::string("it may be kept: ") + field);
  }
  expect(seconds({"max-age=99999999999999999999"}) == 86400, "a very long age is not cut");
}

void urls() {
  const Server plain = Server::at("redis://cache.example:7000/3");
  expect(plain.host == "cache.example" && plain.port == "7000" && plain.database == "3" && !plain.uses_tls, "a URL is read wrongly");
  const Server secure = Server::at("rediss://[::1]");
  expect(secure.host == "::1" && secure.port == "6379" && secure.database == "0" && secure.uses_tls, "a URL with IPv6 is read wrongly");
  expect(Server::at("unix:/run/redis.sock").path == "/run/redis.sock", "a path is read wrongly");
  const std::string bad[] = {"",  "http://a", "redis://", "redis://a:b@c", "redis://a:0", "redis://a:65536", "redis://a/x", "redis://a b", "redis://[::1",
                             "redis://:1", "unix:", "unix:relative", "unix:/" + std::string(200, 'x')};
  for (const std::string &url : bad) {
    bool is_refused = false;
    try {
      Server::at(url);
    } catch (const crb::Failure &) {
      is_refused = true;
    }
    expect(is_refused, "this URL is accepted: " + url);
  }
}

}  // namespace self_tests
