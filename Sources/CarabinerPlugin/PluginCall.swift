internal import CCarabiner

/// One call, inside a hook.
@safe public struct PluginCall: @unchecked Sendable {
  // A handle and a table: values. The host refuses a handle whose call is over.

  let handle: crb_call
  let host: UnsafePointer<crb_host>

  /// 0 for the first try.
  public var attempt: Int { unsafe Int(host.pointee.attempt(handle)) }

  /// A number all stages of the request share.
  public var requestID: UInt64 { unsafe host.pointee.request_id(handle) }

  /// Whether the caller went away.
  public var isCancelled: Bool { unsafe host.pointee.cancelled(handle) != 0 }

  /// Sets a header of the request, or removes it.
  ///
  /// - Throws: ``PluginFailure`` if the header is malformed, not declared in `mutates`, or not to be changed in this hook.
  public func setHeader(_ name: String, to value: String?) throws {
    var name = name
    let status = name.withUTF8 { name in
      let key = unsafe crb_view(ptr: name.baseAddress, len: name.count)
      guard var value else { return unsafe host.pointee.header_set(handle, key, crb_view(ptr: nil, len: 0), 0) }
      // An empty value is present: its pointer must not be NULL.
      return unsafe value.isEmpty
        ? host.pointee.header_set(handle, key, crb_view(ptr: name.baseAddress, len: 0), 0)
        : value.withUTF8 { unsafe host.pointee.header_set(handle, key, crb_view(ptr: $0.baseAddress, len: $0.count), 0) }
    }
    guard status == crb_status(CRB_OK) else { throw PluginFailure("the host refuses the header \(name) (status \(status))") }
  }

  /// A header of the request; nil if there is none.
  public func header(_ name: String) -> String? {
    var name = name
    return name.withUTF8 { name in
      var value = unsafe crb_view()
      let status = unsafe host.pointee.header_get(handle, crb_view(ptr: name.baseAddress, len: name.count), &value)
      return unsafe status == crb_status(CRB_OK) ? value.text : nil
    }
  }

  /// The operation's name; nil for an anonymous one.
  public var operationName: String? {
    var value = unsafe crb_view()
    return unsafe host.pointee.field_get(handle, UInt32(CRB_PART_OPERATION_NAME), &value) == crb_status(CRB_OK) ? value.text : nil
  }

  func emit(_ json: String, as who: crb_self) -> Bool {
    var target: UnsafeMutablePointer<UInt8>?
    let buffer = unsafe host.pointee.buf_alloc(who, json.utf8.count, &target)
    guard buffer != 0, let target = unsafe target else { return false }
    _ = unsafe UnsafeMutableBufferPointer(start: target, count: json.utf8.count).update(fromContentsOf: json.utf8)
    return unsafe host.pointee.emit(handle, UInt32(CRB_EMIT_RESULT), buffer, UInt32(CRB_RESULT_SYNTHETIC)) == crb_status(CRB_OK)
  }

  func setError(_ message: String) {
    var message = message
    _ = message.withUTF8 { bytes in
      var error = unsafe crb_error()
      unsafe error.size = unsafe UInt32(MemoryLayout<crb_error>.size)
      unsafe error.message = unsafe crb_view(ptr: bytes.baseAddress, len: bytes.count)
      return unsafe host.pointee.set_error(handle, &error)
    }
  }
}

/// One result, as raw JSON. What is kept beyond the hook is a copy.
public struct PluginResult {
  /// The whole response; nil unless declared.
  public let json: String?
  /// Its data; nil unless declared and present.
  public let data: String?
  /// Its errors; nil unless declared and present.
  public let errors: String?
  /// The status of the HTTP response that carried it; 0 if none did.
  public let httpStatus: Int

  init(_ result: crb_result) {
    func text(_ view: crb_view) -> String? { unsafe view.ptr == nil ? nil : view.text }
    json = unsafe text(result.json)
    data = unsafe text(result.data)
    errors = unsafe text(result.errors)
    httpStatus = unsafe Int(result.http_status)
  }
}

/// Why a step further in failed.
public struct PluginCallError {
  /// What happened.
  public let message: String
  /// The status of the HTTP response; 0 if none.
  public let httpStatus: Int

  init(_ error: crb_error) {
    message = unsafe error.message.text
    httpStatus = unsafe Int(error.http_status)
  }
}
