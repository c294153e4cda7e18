internal import CCarabiner

/// The host's store of normalized records. Each operation is one transaction.
@safe public struct RecordStore: @unchecked Sendable {
  // Safe: the table is static and read-only, and its functions may be called from any thread.

  private let service: UnsafePointer<crb_store_service>
  private let identity: crb_self

  fileprivate init(_ service: UnsafePointer<crb_store_service>, _ identity: crb_self) {
    unsafe self.service = unsafe service
    self.identity = identity
  }

  /// The records under these keys, in the format of ``publish(_:)``. Missing records and expired fields are left out.
  ///
  /// - Throws: ``PluginFailure`` if the host refuses or the store fails; `CancellationError`.
  public func load(_ keys: [String]) async throws -> String {
    unsafe try await run("the keys to load") { done, user in
      unsafe KeyBlock(keys).with { unsafe service.pointee.load(identity, $0.baseAddress, $0.count, done, user) }
    }.records
  }

  /// Writes records. `records` is a JSON object of records by key: `{"Book:1": {"title": "Solaris"}}`.
  ///
  /// - Returns: How many fields changed.
  /// - Throws: ``PluginFailure`` if the host refuses or the store fails; `CancellationError`, after which the records may still
  ///   be written.
  @discardableResult
  public func publish(_ records: String) async throws -> Int {
    unsafe try await run("the records; look at their JSON") { done, user in
      unsafe records.withView { unsafe service.pointee.publish(identity, $0, done, user) }
    }.count
  }

  /// Removes the records under these keys.
  ///
  /// - Returns: How many records were removed.
  /// - Throws: ``PluginFailure`` if the host refuses or the store fails; `CancellationError`, after which the records may still
  ///   be removed.
  @discardableResult
  public func remove(_ keys: [String]) async throws -> Int {
    unsafe try await run("the keys to remove") { done, user in
      unsafe KeyBlock(keys).with { unsafe service.pointee.remove(identity, $0.baseAddress, $0.count, done, user) }
    }.count
  }

  /// Removes the records whose keys match a pattern, in which `*` stands for any text.
  ///
  /// - Returns: How many records were removed.
  /// - Throws: ``PluginFailure`` if the host refuses or the store fails; `CancellationError`, after which the records may still
  ///   be removed.
  @discardableResult
  public func remove(matching pattern: String) async throws -> Int {
    unsafe try await run("the pattern") { done, user in
      unsafe pattern.withView { unsafe service.pointee.remove_matching(identity, $0, done, user) }
    }.count
  }

  private func run(
    _ what: String, _ start: (crb_store_done, UnsafeMutableRawPointer) -> crb_status
  ) async throws -> StoreReply.Answer {
    let waiter = Waiter<StoreReply.Answer>()
    let reply = unsafe Unmanaged.passRetained(StoreReply(waiter))
    let status = unsafe start(StoreReply.done, reply.toOpaque())
    // done() is called if and only if the start succeeds.
    if status != crb_status(CRB_OK) { unsafe reply.release() }
    try PluginFailure.check(status, what)
    return try await waiter.value
  }
}

extension PluginHost {
  /// The store of the host. The manifest must grant `store`.
  ///
  /// - Throws: ``PluginFailure`` if the manifest does not grant it.
  public var store: RecordStore {
    get throws {
      guard let service = unsafe storing else {
        throw PluginFailure("the manifest does not grant this plugin the service store; add grants: [store]")
      }
      return unsafe RecordStore(service, identity)
    }
  }
}

/// Receives the host's callback.
private final class StoreReply: Sendable {
  struct Answer: Sendable {
    let count: Int
    let records: String
  }

  private let waiter: Waiter<Answer>

  init(_ waiter: Waiter<Answer>) { self.waiter = waiter }

  static let done: crb_store_done = { user, answer, error in
    guard let user = unsafe user else { return }
    let waiter = unsafe Unmanaged<StoreReply>.fromOpaque(user).takeRetainedValue().waiter
    if let answer = unsafe answer {
      waiter.finish(
        .success(Answer(count: unsafe Int(answer.pointee.count), records: unsafe answer.pointee.records.text)))
    } else {
      let message = unsafe error?.pointee.message.text ?? "the operation on the store failed"
      let flags = unsafe ErrorFlags(rawValue: error?.pointee.flags ?? 0)
      waiter.finish(.failure(PluginFailure(message, code: unsafe error?.pointee.code ?? 0, flags: flags)))
    }
  }
}

/// Keys in the layout of the C interface.
private struct KeyBlock {
  private var bytes: [UInt8] = []
  private var lengths: [Int] = []

  init(_ keys: [String]) {
    for key in keys {
      bytes.append(contentsOf: key.utf8)
      lengths.append(key.utf8.count)
    }
  }

  /// Passes the keys to `body`. They are valid only during the call.
  func with<Value>(_ body: (UnsafeBufferPointer<crb_view>) -> Value) -> Value {
    unsafe bytes.withView { all in
      var views: [crb_view] = unsafe []
      var offset = 0
      for length in lengths {
        unsafe views.append(crb_view(ptr: all.ptr.map { unsafe $0 + offset }, len: length))
        offset += length
      }
      return unsafe views.withUnsafeBufferPointer { unsafe body($0) }
    }
  }
}
