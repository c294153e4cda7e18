package import CCarabiner
internal import CCrossing
package import CarabinerABI

/// One record of a message of a ``WatchedWorker``, with copies of its texts.
package struct WatchedRecord: Sendable, Hashable {
  let kind: UInt32
  package let a: UInt32
  package let b: UInt32
  package let number: UInt64
  /// Nil if it is absent.
  package let name: [UInt8]?
  package let value: [UInt8]?

  package var nameText: String { String(decoding: name ?? [], as: UTF8.self) }
  package var valueText: String { String(decoding: value ?? [], as: UTF8.self) }

  static func all(in message: [UInt8]) -> [WatchedRecord] {
    unsafe message.withUnsafeBytes { bytes in
      var records = unsafe WorkerRecords(bytes)
      var all: [WatchedRecord] = []
      while let record = unsafe records.next() {
        all.append(
          unsafe WatchedRecord(
            kind: record.kind, a: record.a, b: record.b, number: record.number,
            name: record.name.isAbsent ? nil : Array(record.name.bytes),
            value: record.value.isAbsent ? nil : Array(record.value.bytes)))
      }
      return all
    }
  }

  /// The text with which a plugin refused; empty if it gave none.
  static func reason(in message: [UInt8]) -> String {
    all(in: message).first { $0.kind == CCROSSING_FAILURE.rawValue }?.valueText ?? ""
  }
}

/// The answer of a hook.
package struct WatchedAnswer: Sendable {
  /// An element that the hook staged.
  package struct Element: Sendable, Hashable {
    package let kind: UInt32
    package let flags: UInt32
    package let bytes: [UInt8]
  }

  package let verdict: crb_verdict
  /// Whether the worker has memory for the call.
  package let isKept: Bool
  package let elements: [Element]
  /// Why the worker failed the hook, if its plugin did not.
  package let failure: String?

  init(_ answer: WorkerLane.Answer) {
    let records = WatchedRecord.all(in: answer.message)
    verdict = answer.verdict
    isKept = answer.isKept
    elements = records.filter { $0.kind == CCROSSING_EMIT.rawValue }.map {
      Element(kind: $0.a, flags: $0.b, bytes: $0.value ?? [])
    }
    failure = records.first { $0.kind == CCROSSING_FAILURE.rawValue }.map(\.valueText)
  }
}

/// An interceptor of a plugin in a ``WatchedWorker``.
package struct WatchedInterceptor: Sendable, Hashable {
  package let id: String
  /// Its real thread class. In the table of the worker it is always concurrent.
  package let threadClass: UInt32
  package let hasValidate: Bool
  package let hasDrain: Bool
  /// The stages that have on_cancel(), and those that have release().
  package let cancelling: Set<StageKind>
  package let releasing: Set<StageKind>

  init(_ description: WorkerDescription.Interceptor) {
    id = description.id
    threadClass = description.threadClass
    hasValidate = description.features & UInt32(CCROSSING_HAS_VALIDATE) != 0
    hasDrain = description.features & UInt32(CCROSSING_HAS_DRAIN) != 0
    cancelling = Set(description.stages.filter { $0.hooks >> 31 == 1 }.map(\.kind))
    releasing = Set(description.stages.filter { $0.has(CCROSSING_RELEASE) }.map(\.kind))
  }
}
