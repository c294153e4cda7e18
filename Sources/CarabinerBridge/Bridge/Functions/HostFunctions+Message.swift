package import CCarabiner
package import Carabiner
package import CarabinerABI
internal import CarabinerWire
package import FoundationEssentials

/// Reading and changing the message: section 4 of the header.
extension HostFunctions {
  /// How long a header's name and value may be together, 64 KiB.
  static let maximumHeaderBytes = 64 << 10

  /// Returns a view. If it is absent, there was no memory for it.
  static func show(_ view: crb_view, _ out: UnsafeMutablePointer<crb_view>) -> crb_status {
    guard unsafe !view.isAbsent else { return Status.noMemory }
    unsafe out.pointee = unsafe view
    return Status.ok
  }

  // MARK: Headers

  static func headers(
    _ call: crb_call, _ out: UnsafeMutablePointer<UnsafePointer<crb_header>?>?, _ count: UnsafeMutablePointer<Int>?
  ) -> crb_status {
    guard let out = unsafe out, let count = unsafe count else { return Status.invalid }
    return CallTable.shared.enter(call) { call, hook, stage in
      guard stage.needs.contains(.headers), let headers = call.pass.visibleHeaders(in: hook, of: stage.kind) else {
        return Status.state
      }
      guard let array = unsafe call.memory.headerArray(headers) else { return Status.noMemory }
      unsafe out.pointee = unsafe UnsafePointer(array)
      unsafe count.pointee = headers.count
      return Status.ok
    }
  }

  static func headerGet(_ call: crb_call, _ name: crb_view, _ out: UnsafeMutablePointer<crb_view>?) -> crb_status {
    guard let out = unsafe out, unsafe name.isHeaderName else { return Status.invalid }
    return CallTable.shared.enter(call) { call, hook, stage in
      guard stage.needs.contains(.headers), let headers = call.pass.visibleHeaders(in: hook, of: stage.kind) else {
        return Status.state
      }
      guard let index = unsafe headers.firstIndex(of: name.text) else { return Status.notFound }
      return unsafe show(call.memory.view(of: headers.bytes, at: headers.valueRange(at: index)), out)
    }
  }

  static func headerSet(_ call: crb_call, _ name: crb_view, _ value: crb_view, _ flags: UInt32) -> crb_status {
    guard let isASCII = unsafe isASCIIField(name, value) else { return Status.invalid }
    return CallTable.shared.enter(call) { call, hook, stage in
      unsafe call.pass.stageHeader(name, value, flags, isASCII: isASCII, in: hook, of: stage)
    }
  }

  /// Whether the value of a field is ASCII; nil if the name or the value is not valid.
  package static func isASCIIField(_ name: crb_view, _ value: crb_view) -> Bool? {
    guard unsafe name.len <= maximumHeaderBytes, unsafe value.len <= maximumHeaderBytes - max(name.len, 0),
      unsafe name.isHeaderName
    else { return nil }
    // Most values pass this one look.
    let isVisible = unsafe value.isVisibleASCII
    guard unsafe isVisible || value.isHeaderValue else { return nil }
    return isVisible
  }

  // MARK: Fields

  static func fieldGet(_ call: crb_call, _ part: UInt32, _ out: UnsafeMutablePointer<crb_view>?) -> crb_status {
    guard let out = unsafe out, part.nonzeroBitCount == 1 else { return Status.invalid }
    return CallTable.shared.enter(call) { call, hook, stage in
      let parts = Parts(rawValue: part)
      guard stage.needs.contains(parts), Contract.rights(parts, in: hook, of: stage.kind).contains(.read) else {
        return Status.state
      }
      if let staged = call.pass.staged.fields[part] {
        guard let staged else { return Status.notFound }
        return unsafe show(call.memory.view(of: staged), out)
      }
      return unsafe call.field(parts, out)
    }
  }

  static func fieldSet(_ call: crb_call, _ part: UInt32, _ buffer: crb_buf) -> crb_status {
    var bytes: Data?
    if buffer != 0 {
      switch BufferTable.shared.consume(buffer) {
      case .data(let data): bytes = data
      case .stale: return CallTable.shared.find(call) == nil ? Status.stale : Status.invalid
      case .noMemory: return Status.noMemory
      }
    }
    guard part.nonzeroBitCount == 1 else {
      return CallTable.shared.find(call) == nil ? Status.stale : Status.invalid
    }
    return CallTable.shared.enter(call) { unsafe $0.pass.stage(.field(part, bytes), in: $1, of: $2) }
  }

  /// Whether bytes are what a part must be; absence is fine where the part may be absent.
  package static func isAcceptable(_ bytes: Data?, as part: Parts) -> Bool {
    guard let bytes else { return part == .body || part == .variables || part == .extensions }
    switch part {
    case .variables, .extensions: return (try? JSONMembers(locating: bytes.span))?.isObject == true
    case .document: return String(validating: bytes, as: UTF8.self) != nil
    case .url: return String(validating: bytes, as: UTF8.self).flatMap { URL(string: $0) } != nil
    case .method:
      return RequestLine.isMethod(bytes) && bytes.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    default: return true
    }
  }
}

extension CallPass {
  /// The headers a hook of this call sees, staged edits included; nil if there are none to see yet.
  package func visibleHeaders(in hook: Hook, of kind: StageKind) -> HTTPHeaders? {
    let source = Contract.headerSource(in: hook, of: kind)
    let current = source == .response ? staged.head?.headers ?? message?.headers(of: source) : message?.headers(of: source)
    guard staged.headerEditCount > 0, var headers = current else { return current?.repaired }
    headers.apply(staged)
    return headers.repaired
  }

  /// Stages a field; an absent value removes the fields of the name.
  ///
  /// - Parameter isASCII: Whether the value is known to be ASCII.
  package mutating func stageHeader(
    _ name: crb_view, _ value: crb_view, _ flags: UInt32, isASCII: Bool, in hook: Hook, of stage: StageBinding
  ) -> crb_status {
    guard stage.mayWriteHeaders(in: hook), hasHeaders(in: hook, of: stage.kind) else { return Status.state }
    guard stage.mutates.contains(.headers) else { return Status.readOnly }
    guard staged.headerEditCount < HostFunctions.maximumHeaders else { return Status.limit }
    unsafe stageHeader(name, value, isASCII: isASCII, keepsOthers: flags & UInt32(CRB_HEADER_APPEND) != 0)
    return Status.ok
  }

  private mutating func stageHeader(_ name: crb_view, _ value: crb_view, isASCII: Bool, keepsOthers: Bool) {
    let name = unsafe Span<UInt8>(_unsafeElements: name.elements)
    guard unsafe !value.isAbsent else { return staged.removeHeaders(name) }
    let bytes = unsafe Span<UInt8>(_unsafeElements: value.elements)
    guard !isASCII, !bytes.isASCII else { return staged.addHeader(name, bytes, keepsOthers: keepsOthers) }
    let text = unsafe value.text
    staged.addHeader(name, text.utf8Span.span, keepsOthers: keepsOthers)
  }

  /// Whether a hook of this call sees any headers.
  package func hasHeaders(in hook: Hook, of kind: StageKind) -> Bool {
    let source = Contract.headerSource(in: hook, of: kind)
    // Both are known without a look at the message.
    if source == .request || hook == .onHead { return message != nil }
    return message?.headers(of: source) != nil
  }
}

extension CallMemory {
  /// The fields as a plugin sees them, whose texts are UTF-8 (rule R2).
  package mutating func headerArray(_ headers: HTTPHeaders) -> UnsafeMutablePointer<crb_header>? {
    let headers = headers.repaired
    let size = unsafe MemoryLayout<crb_header>.stride * max(headers.count, 1)
    guard let memory = unsafe views.allocate(size, alignment: 16, limit: .max) else { return nil }
    let array = unsafe memory.assumingMemoryBound(to: crb_header.self)
    // One copy of all names and values.
    let all = unsafe view(of: headers.bytes, at: 0..<headers.byteCount)
    guard let base = unsafe all.ptr else { return nil }
    for index in headers.indices { unsafe array[index] = unsafe headers.view(at: index, in: base) }
    return unsafe array
  }

  /// A baggage value as C sees it.
  package mutating func encode(_ value: Baggage.Value) -> crb_value {
    var encoded = unsafe crb_value()
    switch value {
    case .bool(let value):
      unsafe encoded.type = UInt32(CRB_VALUE_BOOL)
      unsafe encoded.n.i = value ? 1 : 0
    case .integer(let value):
      unsafe encoded.type = UInt32(CRB_VALUE_I64)
      unsafe encoded.n.i = value
    case .real(let value):
      unsafe encoded.type = UInt32(CRB_VALUE_F64)
      unsafe encoded.n.f = value
    case .text(let value):
      unsafe encoded.type = UInt32(CRB_VALUE_TEXT)
      unsafe encoded.v = unsafe view(of: value)
    case .bytes(let value):
      unsafe encoded.type = UInt32(CRB_VALUE_BYTES)
      unsafe encoded.v = unsafe view(of: value)
    case .json(let value):
      unsafe encoded.type = UInt32(CRB_VALUE_JSON)
      unsafe encoded.v = unsafe view(of: value)
    }
    return unsafe encoded
  }
}

extension GroupCall {
  /// The content of one part of the request, without staged edits.
  package func field(_ part: Parts, _ out: UnsafeMutablePointer<crb_view>) -> crb_status {
    switch pass.message?.content(of: part) ?? .unknown {
    case .text(let text): return unsafe HostFunctions.show(memory.view(of: text), out)
    case .bytes(let bytes): return unsafe HostFunctions.show(memory.view(of: bytes), out)
    case .data(let data): return unsafe HostFunctions.show(memory.view(of: data), out)
    case .absent: return Status.notFound
    case .streamed: return Status.unsupported
    case .unknown:
      guard part == .operationName else { return Status.state }
      guard let name = pass.shared?.operationName else { return Status.notFound }
      return unsafe HostFunctions.show(memory.view(of: name), out)
    }
  }
}

extension crb_value {
  /// The value in Swift; nil if its type is unknown. NONE is the absence of a value.
  package var decoded: (value: Baggage.Value?, Void)? {
    switch unsafe Int(type) {
    case CRB_VALUE_NONE: (nil, ())
    case CRB_VALUE_BOOL: unsafe (.bool(n.i != 0), ())
    case CRB_VALUE_I64: unsafe (.integer(n.i), ())
    case CRB_VALUE_F64: unsafe (.real(n.f), ())
    case CRB_VALUE_TEXT: unsafe (.text(v.text), ())
    case CRB_VALUE_BYTES: unsafe (.bytes(Array(v.bytes)), ())
    case CRB_VALUE_JSON: unsafe (.json(v.text), ())
    default: nil
    }
  }
}

extension HTTPHeaders {
  private static let sensitiveNames = ["authorization", "cookie", "set-cookie", "proxy-authorization"].map { Array($0.utf8) }

  /// A field as plugins see it.
  ///
  /// - Parameter copy: A copy of ``bytes``.
  func view(at index: Int, in copy: UnsafePointer<UInt8>) -> crb_header {
    let (name, value) = (nameRange(at: index), valueRange(at: index))
    return unsafe crb_header(
      name: crb_view(ptr: copy + name.lowerBound, len: name.count),
      value: crb_view(ptr: copy + value.lowerBound, len: value.count),
      flags: isSensitive(at: index) ? UInt32(CRB_HEADER_SENSITIVE) : 0, reserved: 0)
  }

  /// Whether logs and traces must not show the value of a field.
  private func isSensitive(at index: Int) -> Bool {
    let range = nameRange(at: index)
    return Self.sensitiveNames.contains { name in
      name.count == range.count && bytes.span.extracting(range).isEqualIgnoringCase(name.span)
    }
  }
}

extension crb_view {
  /// A token (RFC 9110).
  package var isHeaderName: Bool {
    unsafe len > 0 && ptr != nil && Span<UInt8>(_unsafeElements: elements).isToken
  }

  /// Whether it has only visible ASCII characters and spaces.
  fileprivate var isVisibleASCII: Bool { unsafe len >= 0 && Span<UInt8>(_unsafeElements: elements).isVisibleASCII }

  /// Whether it contains no byte that ends a line.
  package var isHeaderValue: Bool { unsafe len >= 0 && Span<UInt8>(_unsafeElements: elements).isFieldValue }

  fileprivate var elements: UnsafeBufferPointer<UInt8> { unsafe bytes.assumingMemoryBound(to: UInt8.self) }
}
