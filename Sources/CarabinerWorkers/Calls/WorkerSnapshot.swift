internal import CCarabiner
internal import CCrossing
internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// The event of a hook, as the host passes it to a stage.
@unsafe enum WorkerEvent {
  case none
  case result(UnsafePointer<crb_result>)
  case head(UnsafePointer<crb_head>)
  case chunk(UnsafePointer<crb_chunk>)
  case error(UnsafePointer<crb_error>)
}

/// The message of a crossing: the parts of the message that the stage declared in `needs`, and the event.
///
/// It has views, which are valid until the hook completes.
@unsafe struct WorkerSnapshot {
  private var head = CCrossing_snapshot()
  private var parts: [(part: UInt32, status: crb_status, bytes: crb_view)] = unsafe []
  private var fields: [crb_header] = unsafe []
  private var bags: [(key: UInt32, type: UInt32, value: crb_value)] = unsafe []
  private var eventFields = unsafe UnsafeBufferPointer<crb_header>(start: nil, count: 0)
  private var eventTexts: [crb_view] = unsafe []
  /// The room for followers.
  private let followers: Int

  /// Collects the views. The caller is the owner of the call.
  ///
  /// - Parameters:
  ///   - keys: The worker's numbers for the names of baggage that its plugins have asked for.
  ///   - others: The stages of the same kind that read the message after this one.
  init(
    _ call: GroupCall, _ hook: Hook, _ stage: StageBinding, _ event: WorkerEvent, keys: [(name: String, key: UInt32)],
    others: [Int] = []
  ) {
    unsafe followers = others.count
    let needs = others.reduce(stage.needs) { $0.union(call.stages.group.stages[$1].needs) }
    unsafe head.request_id = call.requestID.load(ordering: .relaxed)
    unsafe head.deadline_ns = call.deadline.load(ordering: .relaxed)
    unsafe head.attempt = call.attempt.load(ordering: .relaxed)
    unsafe head.operation_type = call.operation.load(ordering: .relaxed)
    unsafe addHeaders(call, hook, stage.kind, isNeeded: needs.contains(.headers))
    var left = needs.rawValue & ~Parts.headers.rawValue
    while left != 0 {
      let part = Parts(rawValue: left & ~(left - 1))
      left &= left - 1
      guard Contract.rights(part, in: hook, of: stage.kind).contains(.read) else { continue }
      var view = unsafe crb_view.absent
      let status = unsafe call.field(part, &view)
      unsafe parts.append((part.rawValue, status, view))
    }
    for (name, key) in keys {
      guard let value = call.pass.visibleBaggage(name) else { continue }
      let isInner = call.pass.shared?.baggage[name] != value
      let encoded = unsafe call.memory.encode(value)
      unsafe bags.append((key, isInner ? encoded.type + UInt32(CCROSSING_BAG_INNER) : encoded.type, encoded))
    }
    unsafe take(event)
    unsafe head.parts = unsafe UInt32(parts.count)
    unsafe head.fields = unsafe UInt32(fields.count)
    unsafe head.bags = unsafe UInt32(bags.count)
    unsafe head.event_fields = unsafe UInt32(eventFields.count)
  }

  private mutating func addHeaders(_ call: GroupCall, _ hook: Hook, _ kind: StageKind, isNeeded: Bool) {
    unsafe head.headers_status = call.pass.hasHeaders(in: hook, of: kind) ? Status.ok : Status.state
    guard isNeeded, let headers = call.pass.visibleHeaders(in: hook, of: kind) else { return }
    guard let array = unsafe call.memory.headerArray(headers) else {
      unsafe head.headers_status = Status.noMemory
      return
    }
    unsafe fields = unsafe Array(UnsafeBufferPointer(start: array, count: headers.count))
  }

  private mutating func take(_ event: WorkerEvent) {
    switch unsafe event {
    case .none: unsafe head.event = UInt32(CCROSSING_NO_EVENT)
    case .result(let result):
      unsafe head.event = UInt32(CCROSSING_RESULT)
      unsafe head.a = unsafe result.pointee.flags
      unsafe head.c = unsafe UInt32(bitPattern: result.pointee.http_status)
      unsafe head.number = unsafe result.pointee.seq
      let result = unsafe result.pointee
      unsafe eventTexts = unsafe [result.json, result.data, result.errors, result.extensions, result.path, result.label]
    case .head(let response):
      unsafe head.event = UInt32(CCROSSING_HEAD)
      unsafe head.a = unsafe response.pointee.status
      unsafe head.b = unsafe response.pointee.http_version
      unsafe head.c = unsafe response.pointee.attempt
      unsafe eventTexts = unsafe [response.pointee.url]
      unsafe eventFields = unsafe UnsafeBufferPointer(
        start: response.pointee.headers, count: response.pointee.header_count)
    case .chunk(let chunk):
      unsafe head.event = UInt32(CCROSSING_CHUNK)
      unsafe head.a = unsafe chunk.pointee.flags
      unsafe head.number = unsafe chunk.pointee.seq
      unsafe eventTexts = unsafe [chunk.pointee.bytes]
    case .error(let error):
      unsafe head.event = UInt32(CCROSSING_ERROR)
      let error = unsafe error.pointee
      unsafe head.a = unsafe UInt32(bitPattern: error.code)
      unsafe head.b = unsafe error.flags
      unsafe head.c = unsafe UInt32(bitPattern: error.http_status)
      unsafe head.number = unsafe error.retry_after_ns
      unsafe eventTexts = unsafe [error.domain, error.message, error.detail_json, error.origin]
    }
  }

  // MARK: Writing

  private var tableBytes: Int {
    unsafe MemoryLayout<CCrossing_snapshot>.stride + parts.count * MemoryLayout<CCrossing_part>.stride
      + (fields.count + eventFields.count) * MemoryLayout<CCrossing_field>.stride
      + bags.count * MemoryLayout<CCrossing_bag>.stride + followers * MemoryLayout<CCrossing_follower>.stride
  }

  /// The size of the message.
  var byteCount: Int {
    var count = unsafe tableBytes
    for index in unsafe parts.indices {
      let part = unsafe parts[index]
      count += unsafe part.bytes.bytes.count
    }
    for index in unsafe fields.indices {
      let field = unsafe fields[index]
      count += unsafe field.name.bytes.count + field.value.bytes.count
    }
    for index in unsafe bags.indices {
      let bag = unsafe bags[index]
      count += unsafe bag.value.hasBytes ? bag.value.v.bytes.count : 0
    }
    for index in unsafe eventFields.indices {
      let field = unsafe eventFields[index]
      count += unsafe field.name.bytes.count + field.value.bytes.count
    }
    for index in unsafe eventTexts.indices {
      let text = unsafe eventTexts[index]
      count += unsafe text.bytes.count
    }
    return count
  }

  /// Writes the message to memory that has room for ``byteCount`` bytes.
  ///
  /// - Parameter row: The followers, at most as many as there is room for.
  func write(to memory: UnsafeMutableRawPointer, _ row: WorkerRow? = nil) {
    var writer = unsafe Writer(memory: memory, place: tableBytes)
    var head = unsafe head
    unsafe withUnsafeMutableBytes(of: &head.texts) { texts in
      unsafe texts.withMemoryRebound(to: CCrossing_text.self) { texts in
        for index in unsafe eventTexts.indices { unsafe texts[index] = unsafe writer.append(eventTexts[index]) }
        for index in unsafe eventTexts.count..<texts.count {
          unsafe texts[index] = CCrossing_text(place: 0, length: absentLength)
        }
      }
    }
    head.followers = UInt32(row?.stages.count ?? 0)
    unsafe writer.put(head)
    for index in unsafe parts.indices {
      let part = unsafe parts[index]
      unsafe writer.put(CCrossing_part(part: part.part, status: part.status, bytes: writer.append(part.bytes)))
    }
    for index in unsafe fields.indices {
      let field = unsafe fields[index]
      unsafe writer.put(writer.field(field))
    }
    for index in unsafe bags.indices {
      let bag = unsafe bags[index]
      let bytes = unsafe bag.value.hasBytes ? bag.value.v : .absent
      unsafe writer.put(
        CCrossing_bag(
          key: bag.key, type: bag.type, bits: UInt64(bitPattern: bag.value.n.i), bytes: writer.append(bytes)))
    }
    for index in unsafe eventFields.indices {
      let field = unsafe eventFields[index]
      unsafe writer.put(writer.field(field))
    }
    for stage in row?.stages ?? [] {
      unsafe writer.put(
        CCrossing_follower(
          slot: stage.ticket.slot, generation: stage.ticket.generation, instance: stage.instance.number, zero: 0,
          call: stage.visit.number))
    }
  }

  /// Removes the followers from a message, for another worker.
  static func removeFollowers(from message: inout [UInt8]) {
    guard let place = MemoryLayout<CCrossing_snapshot>.offset(of: \.followers), message.count >= place + 4 else { return }
    message.replaceSubrange(place..<place + 4, with: repeatElement(0, count: 4))
  }

  /// Writes the tables at the front and the bytes of texts after them.
  @unsafe private struct Writer {
    let memory: UnsafeMutableRawPointer
    private var table = 0
    private var place: Int

    init(memory: UnsafeMutableRawPointer, place: Int) {
      unsafe self.memory = unsafe memory
      unsafe self.place = place
    }

    mutating func put<Entry: BitwiseCopyable>(_ entry: Entry) {
      unsafe (memory + table).storeBytes(of: entry, as: Entry.self)
      unsafe table += MemoryLayout<Entry>.stride
    }

    mutating func append(_ view: crb_view) -> CCrossing_text {
      guard unsafe !view.isAbsent else { return CCrossing_text(place: 0, length: absentLength) }
      let bytes = unsafe view.bytes
      if let base = bytes.baseAddress { unsafe (memory + place).copyMemory(from: base, byteCount: bytes.count) }
      let text = unsafe CCrossing_text(place: UInt32(place), length: UInt32(bytes.count))
      unsafe place += bytes.count
      return text
    }

    mutating func field(_ field: crb_header) -> CCrossing_field {
      unsafe CCrossing_field(name: append(field.name), value: append(field.value), flags: field.flags, zero: 0)
    }
  }
}

/// `CCROSSING_ABSENT`, which Swift does not import.
let absentLength = UInt32.max

extension crb_value {
  /// Whether it has its value in `v`.
  fileprivate var hasBytes: Bool { unsafe type >= UInt32(CRB_VALUE_TEXT) }
}
