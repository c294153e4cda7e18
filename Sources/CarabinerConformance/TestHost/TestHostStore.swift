internal import CCarabiner
internal import CarabinerABI
internal import CarabinerManifest
internal import CarabinerWire
internal import Synchronization

/// Records for plugins that use the store of their host.
final class TestHostStore: Sendable {
  static let shared = TestHostStore()

  private let records = Mutex(JSONObject())

  func load(_ keys: UnsafePointer<crb_view>?, _ count: Int, _ done: crb_store_done?, _ user: UnsafeMutableRawPointer?)
    -> crb_status
  {
    unsafe start(.storeLoad, keys, count, done, user) { records, names in
      var found = JSONObject()
      for name in names { if let record = records[name] { found[name] = record } }
      return (UInt64(found.count), found)
    }
  }

  func publish(_ text: crb_view, _ done: crb_store_done?, _ user: UnsafeMutableRawPointer?) -> crb_status {
    guard unsafe text.len <= Int(CRB_STORE_MAX_BYTES) else { return Status.limit }
    guard let published = unsafe (try? JSONValue(parsing: Array(text.bytes)))?.object,
      published.allSatisfy({ $0.value.object != nil })
    else { return Status.invalid }
    return unsafe start(.storePublish, nil, 0, done, user) { records, _ in
      var changed: UInt64 = 0
      for (key, record) in published {
        var merged = records[key]?.object ?? JSONObject()
        for (name, value) in record.object ?? [:] where merged[name] != value {
          merged[name] = value
          changed += 1
        }
        records[key] = .object(merged)
      }
      return (changed, nil)
    }
  }

  func remove(_ keys: UnsafePointer<crb_view>?, _ count: Int, _ done: crb_store_done?, _ user: UnsafeMutableRawPointer?)
    -> crb_status
  {
    unsafe start(.storeRemove, keys, count, done, user) { records, names in
      let before = records.count
      for name in names { records[name] = nil }
      return (UInt64(before - records.count), nil)
    }
  }

  func removeMatching(_ pattern: crb_view, _ done: crb_store_done?, _ user: UnsafeMutableRawPointer?) -> crb_status {
    guard unsafe !pattern.isAbsent, unsafe pattern.len > 0 else { return Status.invalid }
    let glob = unsafe Glob(pattern.text)
    return unsafe start(.storeRemoveMatching, nil, 0, done, user) { records, _ in
      let before = records.count
      for name in records.keys where glob.matches(name) { records[name] = nil }
      return (UInt64(before - records.count), nil)
    }
  }

  /// Copies the keys, and does the work later on a thread of the host, as carabiner.h requires.
  private func start(
    _ slot: HostSlot, _ keys: UnsafePointer<crb_view>?, _ count: Int, _ done: crb_store_done?, _ user: UnsafeMutableRawPointer?,
    _ work: @escaping (inout JSONObject, [String]) -> (count: UInt64, found: JSONObject?)
  ) -> crb_status {
    let testHost = TestHost.current
    if let fault = testHost.use(slot) { return fault }
    guard let done = unsafe done else {
      testHost.breach("ER10", "\(slot.rawValue)() was given no done() function")
      return Status.invalid
    }
    guard count >= 0, count <= Int(CRB_STORE_MAX_KEYS) else { return Status.limit }
    var names: [String] = []
    for index in 0..<count {
      guard let key = unsafe keys?[index], unsafe key.len > 0, unsafe !key.isAbsent else { return Status.invalid }
      guard unsafe key.len <= Int(CRB_STORE_MAX_KEY_BYTES) else { return Status.limit }
      names.append(unsafe key.text)
    }
    let context = unsafe PluginContext(user)
    _ = testHost.timers.schedule(after: 100_000) { [names] in
      let outcome = self.records.withLock { work(&$0, names) }
      var memory = GuardedMemory()
      var answer = unsafe crb_store_answer()
      unsafe answer.size = UInt32(MemoryLayout<crb_store_answer>.size)
      unsafe answer.count = outcome.count
      if let found = outcome.found {
        unsafe answer.records = unsafe memory.view(JSONValue.object(found).serialized(), named: "the records of a load")
      }
      unsafe done(context.pointer, memory.lend(answer, named: "the answer of the store"), nil)
      memory.takeBack()
      testHost.collectTouches(at: "the done() function of \(slot.rawValue)")
      memory.forget()
    }
    testHost.interrupt()
    return Status.ok
  }
}
