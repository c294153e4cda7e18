internal import CCarabiner
internal import CCrossing
internal import CarabinerABI

/// One record of a message that a worker wrote. Its texts are views into a copy of the message.
@unsafe struct WorkerRecord {
  let kind: UInt32
  let a: UInt32
  let b: UInt32
  let number: UInt64
  let name: crb_view
  var value: crb_view
}

/// The records of a message, which are checked while they are read.
///
/// The message is a copy in the host's own memory, so the worker cannot change it any more.
@unsafe struct WorkerRecords {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0
  /// The rule that the message breaks; nil if there is none so far.
  private(set) var problem: String?

  init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

  /// The next record; nil after the last one, or with a ``problem``.
  mutating func next() -> WorkerRecord? {
    guard unsafe place < bytes.count, unsafe problem == nil else { return nil }
    let size = MemoryLayout<CCrossing_record>.size
    guard unsafe bytes.count - place >= size else { return unsafe fail("a record is cut") }
    let record = unsafe bytes.loadUnaligned(fromByteOffset: place, as: CCrossing_record.self)
    let room = unsafe UInt64(bytes.count - place - size)
    let name = record.name == absentLength ? 0 : UInt64(record.name)
    let value = record.value == absentLength ? 0 : UInt64(record.value)
    // Both are below 2^32, so that their sum does not overflow.
    let padded = (name + value + 7) & ~7
    guard padded <= room else { return unsafe fail("a length leads out of the message") }
    let start = unsafe place + size
    unsafe place = start + Int(padded)
    return unsafe WorkerRecord(
      kind: UInt32(record.kind), a: record.a, b: record.b, number: record.number,
      name: view(start, Int(name), isAbsent: record.name == absentLength),
      value: view(start + Int(name), Int(value), isAbsent: record.value == absentLength))
  }

  /// The rule that a message breaks; nil if it has whole records only.
  static func problem(in message: [UInt8]) -> String? {
    unsafe message.withUnsafeBytes { bytes in
      var records = unsafe WorkerRecords(bytes)
      while unsafe records.next() != nil {}
      return unsafe records.problem
    }
  }

  private mutating func fail(_ problem: String) -> WorkerRecord? {
    unsafe self.problem = problem
    return nil
  }

  private func view(_ start: Int, _ count: Int, isAbsent: Bool) -> crb_view {
    guard !isAbsent, let base = unsafe bytes.baseAddress else { return unsafe .absent }
    return unsafe crb_view(ptr: (base + start).assumingMemoryBound(to: UInt8.self), len: count)
  }
}

/// Writes records for a worker.
struct WorkerMessage {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ kind: Int, a: UInt32 = 0, b: UInt32 = 0, number: UInt64 = 0, name: [UInt8]? = nil, value: [UInt8]? = nil) {
    var record = CCrossing_record()
    record.kind = UInt16(kind)
    record.a = a
    record.b = b
    record.number = number
    record.name = name.map { UInt32($0.count) } ?? absentLength
    record.value = value.map { UInt32($0.count) } ?? absentLength
    unsafe withUnsafeBytes(of: record) { unsafe bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: name ?? [])
    bytes.append(contentsOf: value ?? [])
    let excess = bytes.count % 8
    if excess > 0 { bytes.append(contentsOf: repeatElement(0, count: 8 - excess)) }
  }

  mutating func add(_ kind: Int, text: String, a: UInt32 = 0, number: UInt64 = 0) {
    add(kind, a: a, number: number, value: Array(text.utf8))
  }
}
