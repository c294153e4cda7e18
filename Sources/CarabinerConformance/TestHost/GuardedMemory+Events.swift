internal import CCarabiner
internal import CarabinerABI
internal import CarabinerWire

/// The events of hooks, with all their texts in guarded memory.
extension GuardedMemory {
  mutating func text(_ text: String?, named name: String) -> crb_view {
    guard let text else { return unsafe .absent }
    return unsafe view(text, named: name)
  }

  mutating func headers(_ headers: [HeaderSample]) -> UnsafePointer<crb_header> {
    let (memory, region) = unsafe room(
      MemoryLayout<crb_header>.stride * headers.count, alignment: 8, named: "the headers of a head")
    let array = unsafe memory.bindMemory(to: crb_header.self, capacity: max(headers.count, 1))
    for (index, field) in headers.enumerated() {
      unsafe (array + index).initialize(
        to: crb_header(
          name: view(field.name, named: "the name of a header"), value: view(field.value, named: "the value of a header"),
          flags: field.isSensitive ? UInt32(CRB_HEADER_SENSITIVE) : 0, reserved: 0))
    }
    protect(region)
    return unsafe UnsafePointer(array)
  }

  mutating func head(_ sample: HeadSample, url: String, attempt: UInt32) -> crb_head {
    unsafe crb_head(
      size: UInt32(MemoryLayout<crb_head>.size), status: sample.status, http_version: sample.version, attempt: attempt,
      headers: headers(sample.headers), header_count: sample.headers.count, url: view(url, named: "the URL of a head"))
  }

  mutating func error(_ sample: ErrorSample) -> crb_error {
    unsafe crb_error(
      size: UInt32(MemoryLayout<crb_error>.size) + sample.extraSize, code: sample.code, flags: sample.flags,
      http_status: sample.httpStatus, retry_after_ns: sample.retryAfter,
      domain: text(sample.domain, named: "the domain of an error"),
      message: text(sample.message, named: "the message of an error"),
      detail_json: text(sample.detail, named: "the detail of an error"),
      origin: text(sample.origin, named: "the origin of an error"))
  }

  /// A result with only the parts that are needed.
  mutating func result(_ sample: ResultSample, number: UInt64, needs: Parts) -> crb_result {
    var result = unsafe crb_result()
    unsafe result.size = UInt32(MemoryLayout<crb_result>.size)
    unsafe result.flags = sample.flags
    unsafe result.seq = number
    let whole = Array(sample.json.utf8)
    if needs.contains(.json) { unsafe result.json = unsafe view(whole, named: "a result") }
    // In a host, a part is a range in the text of the result. With guarded pages, each part has its own pages, which detects more.
    let members = needs.contains(.json) && !isGuarded ? try? JSONMembers(locating: whole.span) : nil
    let base = unsafe result.json.ptr
    func part(_ name: String) -> crb_view? {
      guard let place = members?.range(of: name), let base = unsafe base else { return nil }
      return unsafe crb_view(ptr: base + place.lowerBound, len: place.count)
    }
    if needs.contains(.json) {
      unsafe result.extensions =
        unsafe part("extensions") ?? text(sample.extensions, named: "the extensions of a result")
    }
    if needs.contains(.data) { unsafe result.data = unsafe part("data") ?? text(sample.data, named: "the data of a result") }
    if needs.contains(.errors) {
      unsafe result.errors = unsafe part("errors") ?? text(sample.errors, named: "the errors of a result")
    }
    unsafe result.path = unsafe text(sample.path, named: "the path of a result")
    unsafe result.label = unsafe text(sample.label, named: "the label of a result")
    unsafe result.http_status = sample.httpStatus
    return unsafe result
  }

  mutating func chunk(_ bytes: [UInt8], number: UInt64) -> crb_chunk {
    unsafe crb_chunk(
      size: UInt32(MemoryLayout<crb_chunk>.size), flags: 0, seq: number, bytes: view(bytes, named: "the bytes of a chunk"))
  }

  /// The head of a response. As from a host, it has headers only if the stage has declared them in `needs`.
  mutating func lendHead(of exchange: Exchange, _ call: TestHostCall) -> UnsafePointer<crb_head> {
    var sample = exchange.head
    let hasHeaders = call.needs.contains(.headers) || call.givesAllHeaders
    if !hasHeaders { sample.headers = [] }
    var head = unsafe head(sample, url: exchange.request.url, attempt: call.attempt)
    if !hasHeaders { unsafe head.headers = nil }
    return unsafe lend(head, named: "a crb_head")
  }
}
