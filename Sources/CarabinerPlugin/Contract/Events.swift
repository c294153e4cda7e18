internal import CCarabiner

// The events of hooks. They point to memory of the host that is valid only during the hook, so they cannot be stored or
// captured. A property that returns a value copies it when it is read.

/// One result as raw JSON. Only the parts that the stage needs are present.
@safe public struct ResultEvent: ~Copyable {
  let raw: UnsafePointer<crb_result>

  /// The result's number within the call, from 0.
  public var sequence: UInt64 { unsafe raw.pointee.seq }
  /// The status of the result's HTTP response; 0 if there was none.
  public var httpStatus: Int { unsafe Int(raw.pointee.http_status) }
  /// Whether the result came from a cache.
  public var isCached: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_CACHE) != 0 }
  /// Whether more results follow. For a subscription, whether more may follow.
  public var hasNext: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_HAS_NEXT) != 0 }
  /// Whether the result adds deferred or streamed data to earlier ones.
  public var isIncremental: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_INCREMENTAL) != 0 }
  /// Whether a plugin made the result instead of a server. Caches do not store such results.
  public var isSynthetic: Bool { unsafe raw.pointee.flags & UInt32(CRB_RESULT_SYNTHETIC) != 0 }
  /// The flags that a result in place of this one has.
  var keptFlags: UInt32 { unsafe raw.pointee.flags & UInt32(CRB_RESULT_HAS_NEXT | CRB_RESULT_INCREMENTAL) }
  /// Whether the response has errors. Nothing is copied.
  public var hasErrors: Bool { unsafe raw.pointee.errors.ptr != nil }
  /// The whole response object, as JSON.
  public var json: String? { unsafe raw.pointee.json.presentText }
  /// The response's `data`, as JSON.
  public var data: String? { unsafe raw.pointee.data.presentText }
  /// The response's `errors`, as JSON.
  public var errors: String? { unsafe raw.pointee.errors.presentText }
  /// The response's `extensions`, as JSON.
  public var extensions: String? { unsafe raw.pointee.extensions.presentText }
  /// The path of an incremental result, as JSON.
  public var path: String? { unsafe raw.pointee.path.presentText }
  /// The label of an incremental result.
  public var label: String? { unsafe raw.pointee.label.presentText }
}

/// The head of a response. Its headers are present if the stage needs them.
@safe public struct Head: ~Copyable {
  let raw: UnsafePointer<crb_head>

  /// The status, 100 to 599.
  public var status: Int { unsafe Int(raw.pointee.status) }
  /// The number of the attempt, 0 for the first.
  public var attempt: Int { unsafe Int(raw.pointee.attempt) }
  /// The HTTP version: 10, 11, 20 or 30; 0 if unknown.
  public var httpVersion: Int { unsafe Int(raw.pointee.http_version) }
  /// The URL of the response, after redirects.
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

  /// The chunk's number within the response, from 0.
  public var sequence: UInt64 { unsafe raw.pointee.seq }
  /// The number of bytes.
  public var count: Int { unsafe raw.pointee.bytes.len }
  /// The bytes.
  public var bytes: [UInt8] { unsafe raw.pointee.bytes.array }

  /// Appends the bytes to an array, without an intermediate copy.
  public func append(to array: inout [UInt8]) {
    unsafe array.append(contentsOf: raw.pointee.bytes.pointer)
  }
}

/// An error of a stage closer to the network.
@safe public struct ErrorEvent: ~Copyable {
  let raw: UnsafePointer<crb_error>

  /// The error code, whose meaning the domain defines.
  public var code: Int { unsafe Int(raw.pointee.code) }
  /// The kind of the error.
  public var flags: ErrorFlags { unsafe ErrorFlags(rawValue: raw.pointee.flags) }
  /// How long to wait before a retry; zero if the server did not say.
  public var retryAfter: Duration { unsafe .nanoseconds(Int64(clamping: raw.pointee.retry_after_ns)) }
  /// Machine-readable details as JSON; nil if there are none.
  public var detail: String? { unsafe raw.pointee.detail_json.presentText }
  /// The status of the HTTP response; 0 if there was none.
  public var httpStatus: Int { unsafe Int(raw.pointee.http_status) }
  /// The error message.
  public var message: String { unsafe raw.pointee.message.text }
  /// The name of the component that defines the code.
  public var domain: String { unsafe raw.pointee.domain.text }
  /// The manifest entry that failed.
  public var origin: String { unsafe raw.pointee.origin.text }
}
