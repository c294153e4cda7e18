internal import CCarabiner

/// What a plugin's own HTTP request brought.
public struct FetchResponse: Sendable {
  /// The status, 100 to 599.
  public let status: Int
  /// The whole body.
  public let body: [UInt8]
}

extension PluginHost {
  /// Makes an HTTP request over the host's connections. The manifest must grant `fetch`.
  ///
  /// - Throws: ``PluginFailure`` if the service was not granted, or the request failed.
  public func fetch(
    _ url: String, method: String = "GET", headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
    timeoutSeconds: Double = 10
  ) async throws -> FetchResponse {
    guard let service = unsafe service("crb.fetch/1", as: crb_fetch_service.self) else {
      throw PluginFailure("the manifest does not grant this plugin the service fetch; add grants: [fetch]")
    }
    return try await withCheckedThrowingContinuation { continuation in
      let reply = FetchReply(continuation)
      let context = unsafe Unmanaged.passRetained(reply)
      let status = unsafe FetchArguments(url, method, headers, body, timeoutSeconds).with { request in
        unsafe service.pointee.start(identity, request, FetchReply.done, context.toOpaque())
      }
      // done() runs if and only if the start succeeded.
      guard status != crb_status(CRB_OK) else { return }
      unsafe context.release()
      continuation.resume(
        throwing: PluginFailure("the host does not make the request (status \(status)); check the URL and headers"))
    }
  }
}

/// Waits for the host's call back.
private final class FetchReply: Sendable {
  private let continuation: CheckedContinuation<FetchResponse, any Error>

  init(_ continuation: CheckedContinuation<FetchResponse, any Error>) { self.continuation = continuation }

  static let done:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<crb_head>?, crb_view, UnsafePointer<crb_error>?) -> Void = {
      user, head, body, error in
      guard let user = unsafe user else { return }
      let reply = unsafe Unmanaged<FetchReply>.fromOpaque(user).takeRetainedValue()
      if let head = unsafe head {
        let bytes = unsafe UnsafeBufferPointer(start: body.ptr, count: body.ptr == nil ? 0 : body.len)
        unsafe reply.continuation.resume(returning: FetchResponse(status: Int(head.pointee.status), body: Array(bytes)))
      } else {
        unsafe reply.continuation.resume(throwing: PluginFailure(error?.pointee.message.text ?? "the request failed"))
      }
    }
}

/// The parts of a request, laid out as C wants them.
private struct FetchArguments {
  private let url: [UInt8]
  private let method: [UInt8]
  private let names: [[UInt8]]
  private let values: [[UInt8]]
  private let body: [UInt8]?
  private let timeout: UInt64

  init(
    _ url: String, _ method: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?, _ seconds: Double
  ) {
    self.url = Array(url.utf8)
    self.method = Array(method.utf8)
    names = headers.map { Array($0.name.utf8) }
    values = headers.map { Array($0.value.utf8) }
    self.body = body
    timeout = UInt64(max(0, min(seconds, 1e6)) * 1e9)
  }

  /// Lays everything out in one block of memory for the length of `call`; the host copies it.
  func with(_ call: (UnsafePointer<crb_fetch_request>) -> crb_status) -> crb_status {
    let all = [url, method] + names + values + [body ?? []]
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, all.reduce(0) { $0 + $1.count }))
    defer { unsafe memory.deallocate() }
    var offset = 0
    var views: [crb_view] = unsafe []
    for part in all {
      let rest = unsafe UnsafeMutableBufferPointer(rebasing: memory[offset...])
      _ = unsafe rest.update(fromContentsOf: part)
      unsafe views.append(crb_view(ptr: rest.baseAddress.map { unsafe UnsafePointer($0) }, len: part.count))
      offset += part.count
    }
    let headers = unsafe names.indices.map {
      unsafe crb_header(name: views[2 + $0], value: views[2 + names.count + $0], flags: 0, reserved: 0)
    }
    return unsafe headers.withUnsafeBufferPointer { headers in
      var request = unsafe crb_fetch_request()
      unsafe request.size = unsafe UInt32(MemoryLayout<crb_fetch_request>.size)
      unsafe request.timeout_ns = timeout
      unsafe request.url = unsafe views[0]
      unsafe request.method = unsafe views[1]
      unsafe request.headers = headers.baseAddress
      unsafe request.header_count = headers.count
      if body != nil { unsafe request.body = unsafe views[views.count - 1] }
      return unsafe call(&request)
    }
  }
}

extension crb_view {
  var text: String {
    unsafe String(decoding: UnsafeBufferPointer(start: ptr, count: ptr == nil ? 0 : len), as: UTF8.self)
  }
}
