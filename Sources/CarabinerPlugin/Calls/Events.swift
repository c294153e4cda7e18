internal import CCarabiner

// What hooks are told. It is borrowed from the host for the length of the hook, so none of it can be kept or captured; the
// properties that make a value copy it, and only then.

/// One result, as raw JSON; only the parts the stage needs are there.
@safe public struct ResultEvent: ~Copyable {
  let raw: UnsafePointer<crb_result>

  /// 0, 1, 2 ... within this call.
  public var sequence: UInt64 { unsafe raw.pointee.seq }
  /// The status of the HTTP response that carried it; 0 if none did.
  public var httpStatus: Int { unsafe Int(raw.pointee.http_status) }
  /// Whether it came out of a cache.
  public var isCached: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_CACHE) != 0 }
  /// Whether more results follow; of a subscription, whether more may.
  public var hasNext: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_HAS_NEXT) != 0 }
  /// Whether what is new in it was deferred or streamed.
  public var isIncremental: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_INCREMENTAL) != 0 }
  /// Whether a plugin made it, and no server: a cache does not keep such a result.
  public var isSynthetic: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_SYNTHETIC) != 0 }
  /// Whether the response has errors; costs nothing.
  public var hasErrors: Bool { unsafe raw.pointee.errors.ptr != nil }
  /// The whole response object.
  public var json: String? { unsafe raw.pointee.json.presentText }
  /// Its data.
  public var data: String? { unsafe raw.pointee.data.presentText }
  /// Its errors.
  public var errors: String? { unsafe raw.pointee.errors.presentText }
  /// Its extensions.
  public var extensions: String? { unsafe raw.pointee.extensions.presentText }
  /// The path of an incremental result.
  public var path: String? { unsafe raw.pointee.path.presentText }
  /// The label of an incremental result.
  public var label: String? { unsafe raw.pointee.label.presentText }
}

/// The head of a response; its headers are there if the stage needs them.
@safe public struct Head: ~Copyable {
  let raw: UnsafePointer<crb_head>

  /// 100 to 599.
  public var status: Int { unsafe Int(raw.pointee.status) }
  /// 0 for the first try.
  public var attempt: Int { unsafe Int(raw.pointee.attempt) }
  /// 10, 11, 20 or 30; 0 if unknown.
  public var httpVersion: Int { unsafe Int(raw.pointee.http_version) }
  /// Where the response came from, after redirects.
  public var url: String { unsafe raw.pointee.url.text }

  /// The header fields, in order.
  public var headers: [(name: String, value: String)] {
    let fields = unsafe UnsafeBufferPointer(
      start: raw.pointee.headers, count: raw.pointee.headers == nil ? 0 : raw.pointee.header_count)
    return fields.indices.map { unsafe (name: fields[$0].name.text, value: fields[$0].value.text) }
  }

  /// The first value of a header, by case-insensitive name.
  public func header(_ name: String) -> String? {
    let fields = unsafe UnsafeBufferPointer(
      start: raw.pointee.headers, count: raw.pointee.headers == nil ? 0 : raw.pointee.header_count)
    let index = fields.indices.first { unsafe fields[$0].name.isSameHeaderName(as: name) }
    return index.map { unsafe fields[$0].value.text }
  }
}

/// A piece of a response's body.
@safe public struct Chunk: ~Copyable {
  let raw: UnsafePointer<crb_chunk>

  /// 0, 1, 2 ... within this response.
  public var sequence: UInt64 { unsafe raw.pointee.seq }
  /// How many bytes there are.
  public var count: Int { unsafe raw.pointee.bytes.len }
  /// The bytes.
  public var bytes: [UInt8] { unsafe raw.pointee.bytes.array }

  /// Adds the bytes to an array without another copy.
  public func append(to array: inout [UInt8]) {
    unsafe array.append(contentsOf: raw.pointee.bytes.pointer)
  }
}

/// Why a stage further in failed.
@safe public struct ErrorEvent: ~Copyable {
  let raw: UnsafePointer<crb_error>

  /// What it means is the domain's to define.
  public var code: Int { unsafe Int(raw.pointee.code) }
  /// What kind of error it is.
  public var flags: ErrorFlags { unsafe ErrorFlags(rawValue: raw.pointee.flags) }
  /// When it is worth trying again; zero if the server did not say.
  public var retryAfter: Duration { unsafe .nanoseconds(Int64(clamping: raw.pointee.retry_after_ns)) }
  /// Detail for machines, a JSON text; nil if there is none.
  public var detail: String? { unsafe raw.pointee.detail_json.presentText }
  /// The status of the HTTP response; 0 if none.
  public var httpStatus: Int { unsafe Int(raw.pointee.http_status) }
  /// What happened.
  public var message: String { unsafe raw.pointee.message.text }
  /// Whose error it is.
  public var domain: String { unsafe raw.pointee.domain.text }
  /// The manifest entry that failed.
  public var origin: String { unsafe raw.pointee.origin.text }
}
