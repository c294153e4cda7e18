package import CCarabiner
internal import CCrossing
internal import CarabinerABI

/// A header field in a message.
package struct WatchedField: Sendable, Hashable {
  package let name: [UInt8]
  package let value: [UInt8]
  package let flags: UInt32

  package init(name: [UInt8], value: [UInt8], flags: UInt32) {
    self.name = name
    self.value = value
    self.flags = flags
  }
}

/// The message of a hook, for a ``WatchedWorker``: what the hook may see of its call.
package struct WatchedMessage: Sendable {
  /// A part of the message.
  package struct Part: Sendable {
    let part: UInt32
    let status: crb_status
    let bytes: [UInt8]?

    package init(_ part: UInt32, _ status: crb_status, _ bytes: [UInt8]?) {
      self.part = part
      self.status = status
      self.bytes = bytes
    }
  }

  /// A value of the baggage, by the worker's number of its key.
  package struct Value: Sendable {
    let key: UInt32
    let type: UInt32
    let bits: Int64
    let bytes: [UInt8]?

    package init(key: UInt32, type: UInt32, bits: Int64, bytes: [UInt8]?) {
      self.key = key
      self.type = type
      self.bits = bits
      self.bytes = bytes
    }
  }

  package var requestID: UInt64 = 0
  package var deadline: UInt64 = .max
  package var attempt: UInt32 = 0
  package var operationType: UInt32 = 0
  /// The status of headers().
  package var headersStatus: crb_status = 0
  package var parts: [Part] = []
  package var fields: [WatchedField] = []
  package var values: [Value] = []
  private var head = CCrossing_snapshot()
  private var texts: [[UInt8]?] = []
  private var eventFields: [WatchedField] = []

  package init() {}

  // MARK: The event

  package mutating func set(result: UnsafePointer<crb_result>) {
    let result = unsafe result.pointee
    head.event = UInt32(CCROSSING_RESULT)
    head.a = unsafe result.flags
    head.c = unsafe UInt32(bitPattern: result.http_status)
    head.number = unsafe result.seq
    texts = unsafe [result.json, result.data, result.errors, result.extensions, result.path, result.label].map {
      unsafe Self.copy($0)
    }
  }

  package mutating func set(head response: UnsafePointer<crb_head>) {
    let response = unsafe response.pointee
    head.event = UInt32(CCROSSING_HEAD)
    head.a = unsafe response.status
    head.b = unsafe response.http_version
    head.c = unsafe response.attempt
    texts = unsafe [Self.copy(response.url)]
    let fields = unsafe UnsafeBufferPointer(start: response.headers, count: response.header_count)
    eventFields = fields.indices.map { index in
      let field = unsafe fields[index]
      return unsafe WatchedField(name: Array(field.name.bytes), value: Array(field.value.bytes), flags: field.flags)
    }
  }

  package mutating func set(chunk: UnsafePointer<crb_chunk>) {
    let chunk = unsafe chunk.pointee
    head.event = UInt32(CCROSSING_CHUNK)
    head.a = unsafe chunk.flags
    head.number = unsafe chunk.seq
    texts = unsafe [Self.copy(chunk.bytes)]
  }

  package mutating func set(error: UnsafePointer<crb_error>) {
    let error = unsafe error.pointee
    head.event = UInt32(CCROSSING_ERROR)
    head.a = unsafe UInt32(bitPattern: error.code)
    head.b = unsafe error.flags
    head.c = unsafe UInt32(bitPattern: error.http_status)
    head.number = unsafe error.retry_after_ns
    texts = unsafe [error.domain, error.message, error.detail_json, error.origin].map { unsafe Self.copy($0) }
  }

  private static func copy(_ view: crb_view) -> [UInt8]? { unsafe view.isAbsent ? nil : Array(view.bytes) }

  // MARK: Its bytes

  /// The message as a worker reads it: tables, and after them the bytes of all texts.
  func bytes() -> [UInt8] {
    let size =
      MemoryLayout<CCrossing_snapshot>.stride + parts.count * MemoryLayout<CCrossing_part>.stride
      + (fields.count + eventFields.count) * MemoryLayout<CCrossing_field>.stride
      + values.count * MemoryLayout<CCrossing_bag>.stride
    var writer = Writer(start: size)
    var head = head
    head.request_id = requestID
    head.deadline_ns = deadline
    head.attempt = attempt
    head.operation_type = operationType
    head.headers_status = headersStatus
    head.parts = UInt32(parts.count)
    head.fields = UInt32(fields.count)
    head.bags = UInt32(values.count)
    head.event_fields = UInt32(eventFields.count)
    unsafe withUnsafeMutableBytes(of: &head.texts) { memory in
      unsafe memory.withMemoryRebound(to: CCrossing_text.self) { places in
        for index in places.indices { unsafe places[index] = writer.append(index < texts.count ? texts[index] : nil) }
      }
    }
    writer.put(head)
    for part in parts {
      writer.put(CCrossing_part(part: part.part, status: part.status, bytes: writer.append(part.bytes)))
    }
    for field in fields { writer.put(writer.field(field)) }
    for value in values {
      writer.put(
        CCrossing_bag(
          key: value.key, type: value.type, bits: UInt64(bitPattern: value.bits), bytes: writer.append(value.bytes)))
    }
    for field in eventFields { writer.put(writer.field(field)) }
    return writer.table + writer.texts
  }

  private struct Writer {
    let start: Int
    var table: [UInt8] = []
    var texts: [UInt8] = []

    init(start: Int) { self.start = start }

    mutating func put<Entry: BitwiseCopyable>(_ entry: Entry) {
      unsafe withUnsafeBytes(of: entry) { unsafe table.append(contentsOf: $0) }
    }

    mutating func append(_ bytes: [UInt8]?) -> CCrossing_text {
      guard let bytes else { return CCrossing_text(place: 0, length: absentLength) }
      defer { texts += bytes }
      return CCrossing_text(place: UInt32(start + texts.count), length: UInt32(bytes.count))
    }

    mutating func field(_ field: WatchedField) -> CCrossing_field {
      CCrossing_field(name: append(field.name), value: append(field.value), flags: field.flags, zero: 0)
    }
  }
}
