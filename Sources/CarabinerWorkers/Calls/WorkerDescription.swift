internal import CCarabiner
internal import CCrossing
internal import CarabinerABI
internal import CarabinerBridge

/// The interceptors of a plugin and their stages, as its worker describes them.
package struct WorkerDescription: Sendable, Equatable {
  struct Stage: Sendable, Equatable {
    let kind: StageKind
    /// A bit for each hook that is not NULL, by the number of its operation.
    let hooks: UInt32
    let needs: UInt32
    let mutates: UInt32

    func has(_ operation: CCrossing_operation) -> Bool { hooks >> operation.rawValue & 1 == 1 }
  }

  package struct Interceptor: Sendable, Equatable {
    let id: String
    let version: String
    package let threadClass: UInt32
    let features: UInt32
    var texts: [UInt32: String] = [:]
    var stages: [Stage] = []
  }

  package private(set) var interceptors: [Interceptor] = []

  private static let kinds: [StageKind] = [.graphQL, .cache, .http, .parsing]

  /// Reads the answer to `CCROSSING_LOAD`.
  ///
  /// - Throws: The failure that the worker reports, or the rule that its message breaks.
  init(_ message: [UInt8]) throws(WorkerRefusal) {
    var refusal: WorkerRefusal?
    unsafe message.withUnsafeBytes { bytes in
      var records = unsafe WorkerRecords(bytes)
      while refusal == nil, let record = unsafe records.next() { refusal = unsafe add(record) }
      if refusal == nil, let problem = unsafe records.problem { refusal = WorkerRefusal(status: Status.invalid, text: problem) }
    }
    if let refusal { throw refusal }
  }

  private mutating func add(_ record: WorkerRecord) -> WorkerRefusal? {
    switch unsafe Int(record.kind) {
    case Int(CCROSSING_FAILURE.rawValue): return unsafe WorkerRefusal(record)
    case Int(CCROSSING_INTERCEPTOR.rawValue):
      guard interceptors.count < Int(RegistrationReader.maximumInterceptors),
        unsafe max(record.name.bytes.count, record.value.bytes.count) < RegistrationReader.maximumTextBytes
      else { break }
      interceptors.append(
        unsafe Interceptor(id: record.name.text, version: record.value.text, threadClass: record.a, features: record.b))
      return nil
    case Int(CCROSSING_TEXT.rawValue):
      guard let last = interceptors.indices.last, interceptors[last].texts.count < 8,
        unsafe record.value.bytes.count < RegistrationReader.maximumSchemaBytes
      else { break }
      unsafe interceptors[last].texts[record.a] = unsafe record.value.text
      return nil
    case Int(CCROSSING_STAGE.rawValue):
      guard let last = interceptors.indices.last, interceptors[last].stages.count < Self.kinds.count,
        unsafe Self.kinds.indices.contains(Int(record.a))
      else { break }
      unsafe interceptors[last].stages.append(
        Stage(
          kind: Self.kinds[Int(record.a)], hooks: record.b, needs: UInt32(truncatingIfNeeded: record.number >> 32),
          mutates: UInt32(truncatingIfNeeded: record.number)))
      return nil
    default: break
    }
    return unsafe WorkerRefusal(status: Status.invalid, text: "its description has an unexpected record \(record.kind)")
  }
}

/// A worker, or the plugin in it, refused an operation.
struct WorkerRefusal: Error, Sendable {
  let status: crb_status
  /// The function or the step that failed.
  var step = ""
  let text: String
  /// The header's error flags.
  var flags: UInt32 = 0
  /// The plugin's own code; 0 if it gave none.
  var code: Int32 = 0

  init(status: crb_status, text: String) {
    self.status = status
    self.text = text
  }

  init(_ record: WorkerRecord) {
    status = unsafe crb_status(truncatingIfNeeded: Int32(bitPattern: record.a))
    step = unsafe record.name.text(atMost: PluginError.maximumDomainBytes)
    flags = unsafe record.b
    code = unsafe Int32(truncatingIfNeeded: record.number)
    let said = unsafe record.value.isAbsent ? "" : record.value.text(atMost: PluginError.maximumMessageBytes)
    text = unsafe said.isEmpty ? "it gave no reason (status \(Int32(bitPattern: record.a)))" : said
  }

  /// The refusal in an answer; nil if the operation succeeded.
  static func found(in answer: WorkerLane.Answer) -> WorkerRefusal? {
    unsafe answer.message.withUnsafeBytes { bytes -> WorkerRefusal? in
      var records = unsafe WorkerRecords(bytes)
      while let record = unsafe records.next() {
        if unsafe record.kind == CCROSSING_FAILURE.rawValue { return unsafe WorkerRefusal(record) }
      }
      if let problem = unsafe records.problem { return WorkerRefusal(status: Status.invalid, text: problem) }
      return answer.verdict == Status.ok
        ? nil : WorkerRefusal(status: answer.verdict, text: "it gave no reason (status \(answer.verdict))")
    }
  }
}
