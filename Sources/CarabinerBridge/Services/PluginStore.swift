package import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import CarabinerWire
internal import FoundationEssentials
internal import Synchronization

/// Operations of plugins on the host's store: `crb.store/1`.
package enum PluginStore {
  package typealias Done = crb_store_done

  /// The result of an operation.
  private struct Answer: Sendable {
    var count = 0
    var records: [UInt8]?
  }

  /// An operation that owns copies of its arguments.
  private typealias Operation = @Sendable (ApolloStore) async throws -> Answer

  /// An argument is rejected with this status.
  private struct InvalidArgument: Error {
    let status: crb_status
  }

  /// The operations that an instance has in flight.
  private struct Load {
    var count = 0
    /// The bytes of the records that they publish.
    var bytes = 0
  }

  private static let underWay = Mutex<[crb_self: Load]>([:])

  // MARK: The functions of the table

  package static func load(
    _ who: crb_self, _ keys: UnsafePointer<crb_view>?, _ count: Int, _ done: Done?, _ user: UnsafeMutableRawPointer?
  ) -> crb_status {
    unsafe start(who, done, user) { () throws(InvalidArgument) in
      let keys = Array(Set(try unsafe texts(keys, count)))
      return { store in
        let records = try await store.currentRecords(forKeys: keys)
        return Answer(count: records.count, records: text(of: records))
      }
    }
  }

  package static func publish(
    _ who: crb_self, _ records: crb_view, _ done: Done?, _ user: UnsafeMutableRawPointer?
  ) -> crb_status {
    unsafe start(who, done, user, holding: records.bytes.count) { () throws(InvalidArgument) in
      let records = try unsafe parsed(records)
      return { store in Answer(count: try await store.merge(RecordSet(records)).fieldCount) }
    }
  }

  package static func remove(
    _ who: crb_self, _ keys: UnsafePointer<crb_view>?, _ count: Int, _ done: Done?, _ user: UnsafeMutableRawPointer?
  ) -> crb_status {
    unsafe start(who, done, user) { () throws(InvalidArgument) in
      let keys = try unsafe texts(keys, count)
      return { store in Answer(count: try await store.removeObjects(for: keys)) }
    }
  }

  package static func removeMatching(
    _ who: crb_self, _ pattern: crb_view, _ done: Done?, _ user: UnsafeMutableRawPointer?
  ) -> crb_status {
    unsafe start(who, done, user) { () throws(InvalidArgument) in
      let pattern = try unsafe text(pattern)
      return { store in Answer(count: try await store.removeObjects(matching: pattern)) }
    }
  }

  // MARK: Running one

  private static func start(
    _ who: crb_self, _ done: Done?, _ user: UnsafeMutableRawPointer?, holding bytes: Int = 0,
    _ make: () throws(InvalidArgument) -> Operation
  ) -> crb_status {
    guard let member = PluginRegistry.shared.caller(who), member.grants.contains("store"), let store = member.store else {
      return Status.unsupported
    }
    guard let done = unsafe done else { return Status.invalid }
    // Before the arguments are copied.
    guard begin(who, bytes) else { return Status.limit }
    let operation: Operation
    do throws(InvalidArgument) {
      operation = try make()
    } catch {
      end(who, bytes)
      return error.status
    }
    let context = unsafe CallbackContext(user)
    let subject = CrashSubject.current
    // Task-locals are inherited on purpose: a transaction around the hook would otherwise wait for this operation and deadlock.
    // With them, the store detects that.
    Task {
      let outcome: Result<Answer, any Error>
      do {
        outcome = .success(try await operation(store))
      } catch {
        outcome = .failure(error)
      }
      // Before the callback, which may start the next operation.
      end(who, bytes)
      subject.during(.callback) { unsafe report(outcome, done, context) }
    }
    return Status.ok
  }

  private static func begin(_ who: crb_self, _ bytes: Int) -> Bool {
    underWay.withLock { underWay in
      let load = underWay[who, default: Load()]
      guard load.count < CRB_STORE_MAX_UNDER_WAY, bytes <= Int(CRB_STORE_MAX_BYTES) - load.bytes else { return false }
      underWay[who] = Load(count: load.count + 1, bytes: load.bytes + bytes)
      return true
    }
  }

  private static func end(_ who: crb_self, _ bytes: Int) {
    underWay.withLock { underWay in
      let load = underWay[who, default: Load()]
      underWay[who] = load.count > 1 ? Load(count: load.count - 1, bytes: load.bytes - bytes) : nil
    }
  }

  private static func report(_ outcome: Result<Answer, any Error>, _ done: Done, _ context: CallbackContext) {
    switch outcome {
    case .success(let answer):
      var event = unsafe crb_store_answer()
      unsafe event.size = unsafe UInt32(MemoryLayout<crb_store_answer>.size)
      unsafe event.count = UInt64(answer.count)
      guard let records = answer.records else { return unsafe done(context.pointer, &event, nil) }
      unsafe records.withUnsafeBufferPointer { bytes in
        unsafe event.records = unsafe crb_view(ptr: bytes.baseAddress, len: bytes.count)
        unsafe done(context.pointer, &event, nil)
      }
    case .failure(let error):
      var views = Arena()
      defer { views.deallocate() }
      var event = unsafe crb_error()
      unsafe event.size = unsafe UInt32(MemoryLayout<crb_error>.size)
      let mayWorkLater = (error as? StoreError).map { [.locked, .diskFull, .conflict, .unavailable].contains($0.code) } ?? false
      unsafe event.flags = UInt32(CRB_ERROR_CACHE) | (mayWorkLater ? UInt32(CRB_ERROR_RETRYABLE) : 0)
      unsafe event.message = unsafe views.copy("\(error)", limit: .max) ?? (unsafe .absent)
      unsafe event.domain = unsafe views.copy("carabiner.store", limit: .max) ?? .absent
      unsafe done(context.pointer, nil, &event)
    }
  }

  // MARK: Arguments and answers

  private static func texts(_ views: UnsafePointer<crb_view>?, _ count: Int) throws(InvalidArgument) -> [String] {
    // A count above Int.max arrives as a negative number.
    guard count >= 0, count <= CRB_STORE_MAX_KEYS else { throw InvalidArgument(status: Status.limit) }
    guard count > 0 else { return [] }
    guard let views = unsafe views else { throw InvalidArgument(status: Status.invalid) }
    var texts: [String] = []
    texts.reserveCapacity(count)
    for place in 0..<count { texts.append(try unsafe text(views[place])) }
    return texts
  }

  private static func text(_ view: crb_view) throws(InvalidArgument) -> String {
    guard unsafe !view.isAbsent, unsafe view.len != 0 else { throw InvalidArgument(status: Status.invalid) }
    guard unsafe view.len > 0, unsafe view.len <= CRB_STORE_MAX_KEY_BYTES else { throw InvalidArgument(status: Status.limit) }
    guard let text = unsafe String(validating: view.bytes, as: UTF8.self) else { throw InvalidArgument(status: Status.invalid) }
    return text
  }

  private static func parsed(_ view: crb_view) throws(InvalidArgument) -> [Record] {
    guard unsafe view.len >= 0, unsafe view.len <= CRB_STORE_MAX_BYTES else { throw InvalidArgument(status: Status.limit) }
    let bytes = unsafe Array(view.bytes)
    guard let objects = (try? JSONValue(parsing: bytes))?.object else { throw InvalidArgument(status: Status.invalid) }
    guard objects.count <= CRB_STORE_MAX_KEYS else { throw InvalidArgument(status: Status.limit) }
    let now = StoreClock.now
    var records: [Record] = []
    records.reserveCapacity(objects.count)
    for (key, value) in objects {
      guard !key.isEmpty, let fields = value.object else { throw InvalidArgument(status: Status.invalid) }
      guard key.utf8.count <= CRB_STORE_MAX_KEY_BYTES else { throw InvalidArgument(status: Status.limit) }
      var record = Record(key: key, fields: [:])
      for (name, value) in fields {
        guard !name.isEmpty else { throw InvalidArgument(status: Status.invalid) }
        // The value is serialized again: the store recognizes references by their exact bytes.
        record.set(name, to: value.serialized(), received: now)
      }
      if record.table.count > 0 { records.append(record) }
    }
    return records
  }

  private static func text(of records: [Record]) -> [UInt8] {
    var text = [UInt8(ascii: "{")]
    for record in records {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      JSONWriter.appendString(record.key, to: &text)
      text += ":{".utf8
      for (place, name) in record.names.enumerated() {
        if place > 0 { text.append(UInt8(ascii: ",")) }
        JSONWriter.appendString(name, to: &text)
        text.append(UInt8(ascii: ":"))
        text += record[name] ?? []
      }
      text.append(UInt8(ascii: "}"))
    }
    text.append(UInt8(ascii: "}"))
    return text
  }
}
