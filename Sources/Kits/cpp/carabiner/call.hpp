// A call inside a hook: the functions of every stage and those of each kind of stage.
#ifndef CARABINER_CALL_HPP
#define CARABINER_CALL_HPP

#include <initializer_list>

#include "later.hpp"

namespace crb {
namespace detail {
struct ResultFlags;
}
namespace graphql {

/// A GraphQL operation that passes a GraphQL stage.
class Call : public detail::Suspendable<Call> {
 public:
  using Suspendable::Suspendable;

  std::optional<std::string_view> operation_name() const { return part(CRB_PART_OPERATION_NAME); }
  std::optional<std::string_view> document() const { return part(CRB_PART_DOCUMENT); }
  std::optional<std::string_view> variables() const { return part(CRB_PART_VARIABLES); }
  std::optional<std::string_view> extensions() const { return part(CRB_PART_EXTENSIONS); }
  void set_document(std::string_view text) { set_part(CRB_PART_DOCUMENT, text, "the document"); }
  void set_variables(std::string_view json) { set_part(CRB_PART_VARIABLES, json, "the variables"); }
  void set_extensions(std::string_view json) { set_part(CRB_PART_EXTENSIONS, json, "the extensions"); }
  void set_header(std::string_view name, std::string_view value, bool append = false) { change_header(name, value, append); }
  void remove_header(std::string_view name) { drop_header(name); }

  /// Stages a whole response. With Continue it replaces the current result, and keeps whether more results follow; in on_end it is added
  /// after the last result.
  void emit(std::string_view json) { emit(json, result_flags_); }
  void emit(std::string_view json, uint32_t flags) { stage(CRB_EMIT_RESULT, buffer(json), flags); }
  void emit(Buffer json) { emit(std::move(json), result_flags_); }
  void emit(Buffer json, uint32_t flags) { stage(CRB_EMIT_RESULT, std::move(json), flags); }

  /// In on_request: responds with this result. `return call.respond(json);`
  Verdict respond(std::string_view json, uint32_t flags = CRB_RESULT_SYNTHETIC) {
    emit(json, flags);
    return Verdict::Respond;
  }
  /// In on_result: passes this result on instead. `return call.replace(json);`
  Verdict replace(std::string_view json) { return replace(json, result_flags_); }
  Verdict replace(std::string_view json, uint32_t flags) {
    emit(json, flags);
    return Verdict::Continue;
  }
  /// In on_error: replaces the error with this result. `return call.recover(json);`
  Verdict recover(std::string_view json, uint32_t flags = CRB_RESULT_SYNTHETIC) {
    emit(json, flags);
    return Verdict::Recover;
  }
  /// Restarts the call at the first GraphQL stage. `return call.retry();`
  Verdict retry(std::chrono::nanoseconds delay = std::chrono::nanoseconds(0)) { return again(CRB_RETRY_CHAIN, delay); }

 private:
  friend struct detail::ResultFlags;
  /// The flags of a result that replaces the current one.
  uint32_t result_flags_ = 0;
};

/// A call that was cancelled.
struct Cancelled : detail::Watched {
  using Watched::Watched;
};

}  // namespace graphql

namespace http {

/// An HTTP exchange that passes an HTTP stage.
class Call : public detail::Suspendable<Call> {
 public:
  using Suspendable::Suspendable;

  std::optional<std::string_view> url() const { return part(CRB_PART_URL); }
  std::optional<std::string_view> method() const { return part(CRB_PART_METHOD); }
  std::optional<std::string_view> body() const { return part(CRB_PART_BODY); }
  void set_url(std::string_view url) { set_part(CRB_PART_URL, url, "the URL"); }
  void set_method(std::string_view method) { set_part(CRB_PART_METHOD, method, "the method"); }
  void set_body(std::string_view bytes) { set_part(CRB_PART_BODY, bytes, "the body"); }
  /// Changes a header of the request in on_request, of the response in on_head.
  void set_header(std::string_view name, std::string_view value, bool append = false) { change_header(name, value, append); }
  void remove_header(std::string_view name) { drop_header(name); }

  /// Stages a response head: in on_request before Respond, or in on_head.
  void set_head(uint32_t status, std::initializer_list<Header> headers = {}) {
    std::vector<crb_header> fields;
    fields.reserve(headers.size());
    for (const Header &field : headers) {
      fields.push_back({view(field.name), view(field.value), field.sensitive ? uint32_t{CRB_HEADER_SENSITIVE} : 0u, 0});
    }
    crb_head head{};
    head.size = sizeof head;
    head.status = status;
    head.headers = fields.data();
    head.header_count = fields.size();
    detail::check(table->set_head(handle(), &head), "the head");
  }

  /// Stages bytes of the response body. With Continue they replace the chunk; in on_end they are added after the last chunk.
  void emit(std::string_view bytes) { stage(CRB_EMIT_CHUNK, buffer(bytes), 0); }
  void emit(Buffer bytes) { stage(CRB_EMIT_CHUNK, std::move(bytes), 0); }

  /// In on_request: sends this response. `return call.respond(200, {{"Content-Type", "application/json"}}, body);`
  Verdict respond(uint32_t status, std::initializer_list<Header> headers, std::string_view body) {
    set_head(status, headers);
    emit(body);
    return Verdict::Respond;
  }
  /// In on_chunk: passes these bytes on instead. `return call.replace(bytes);`
  Verdict replace(std::string_view bytes) {
    emit(bytes);
    return Verdict::Continue;
  }
  /// Sends the HTTP request again. `return call.retry();`
  Verdict retry(std::chrono::nanoseconds delay = std::chrono::nanoseconds(0)) { return again(CRB_RETRY_STAGE, delay); }
};

/// A call that was cancelled.
struct Cancelled : detail::Watched {
  using Watched::Watched;
};

}  // namespace http

namespace cache {

/// An operation whose result a cache can provide or store.
class Call : public detail::Suspendable<Call> {
 public:
  using Suspendable::Suspendable;

  std::optional<std::string_view> operation_name() const { return part(CRB_PART_OPERATION_NAME); }
  std::optional<std::string_view> document() const { return part(CRB_PART_DOCUMENT); }
  std::optional<std::string_view> variables() const { return part(CRB_PART_VARIABLES); }
  std::optional<std::string_view> extensions() const { return part(CRB_PART_EXTENSIONS); }

  /// In on_read: responds with a cached result. `return call.respond(json);`
  Verdict respond(std::string_view json) {
    stage(CRB_EMIT_RESULT, buffer(json), CRB_RESULT_CACHE);
    return Verdict::Respond;
  }
};

/// A call that was cancelled.
struct Cancelled : detail::Watched {
  using Watched::Watched;
};

}  // namespace cache

namespace parser {

/// A response that is being parsed.
class Call : public detail::Suspendable<Call> {
 public:
  using Suspendable::Suspendable;

  std::optional<std::string_view> operation_name() const { return part(CRB_PART_OPERATION_NAME); }

  /// Stages a result, a whole GraphQL response: in on_chunk as soon as one is complete, or in on_end.
  void emit(std::string_view json, uint32_t flags = 0) { stage(CRB_EMIT_RESULT, buffer(json), flags); }
  void emit(Buffer json, uint32_t flags = 0) { stage(CRB_EMIT_RESULT, std::move(json), flags); }
};

/// A call that was cancelled.
struct Cancelled : detail::Watched {
  using Watched::Watched;
};

}  // namespace parser
}  // namespace crb

#endif
