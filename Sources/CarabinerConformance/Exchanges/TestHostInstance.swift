internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// An instance of an interceptor, as a manifest entry would have.
@safe final class TestHostInstance: @unchecked Sendable {
  // Only `isDestroyed` changes, and only the creator of an instance destroys it.

  let interceptor: PluginInterceptor
  private let host: UnsafePointer<crb_host>
  private let configuration: String
  private let memory: UnsafeMutableRawPointer?
  private var isDestroyed = false

  /// Validates the configuration and creates an instance, like a host. With the thread class PER_CALL, this instance only checks
  /// that creation works.
  ///
  /// - Parameter validates: Whether validate() is called first.
  init(
    _ interceptor: PluginInterceptor, host: UnsafePointer<crb_host>, configuration: String, name: String? = nil,
    validates: Bool = true
  ) throws {
    self.interceptor = interceptor
    unsafe self.host = unsafe host
    self.configuration = configuration
    if validates, let refusal = unsafe Self.validate(interceptor, host: host, configuration: configuration) { throw refusal }
    unsafe memory = unsafe try Self.create(interceptor, host, configuration, name ?? Self.entryName(of: interceptor))
  }

  /// Calls validate(); nil if it accepts, or does not exist.
  static func validate(_ interceptor: PluginInterceptor, host: UnsafePointer<crb_host>, configuration: String) -> CreationFailure?
  {
    guard let validate = unsafe interceptor.table.interceptor.validate else { return nil }
    if let worker = PluginWorker.current { return worker.validate(interceptor, configuration) }
    let testHost = TestHost.current
    var lent = GuardedMemory(isGuarded: testHost.state.withLock { $0.isGuarded })
    var why = unsafe crb_error()
    unsafe why.size = UInt32(MemoryLayout<crb_error>.size)
    testHost.enter("\(interceptor.id) validate")
    let status = unsafe validate(host, lent.view(configuration, named: "config_json"), &why)
    testHost.leave()
    let reason = unsafe why.message.text
    lent.takeBack()
    testHost.collectTouches(at: "\(interceptor.id) validate")
    lent.forget()
    return status == Status.ok ? nil : CreationFailure(status: status, reason: reason, isValidation: true, leftInstance: false)
  }

  private static func create(
    _ interceptor: PluginInterceptor, _ host: UnsafePointer<crb_host>, _ configuration: String, _ name: String
  ) throws -> UnsafeMutableRawPointer? {
    if let worker = PluginWorker.current { return unsafe try worker.create(interceptor, configuration, name) }
    let testHost = TestHost.current
    var lent = GuardedMemory(isGuarded: testHost.state.withLock { $0.isGuarded })
    defer {
      lent.takeBack()
      testHost.collectTouches(at: "\(interceptor.id) create")
      lent.forget()
    }
    let config = unsafe lent.view(configuration, named: "config_json")
    var why = unsafe crb_error()
    unsafe why.size = UInt32(MemoryLayout<crb_error>.size)
    let info = unsafe crb_create_info(
      size: UInt32(MemoryLayout<crb_create_info>.size), reserved: 0, self: testHost.newMember(),
      generation: 1,
      entry_name: lent.view(name, named: "entry_name"), config_json: config,
      origin: lent.view("/usr/lib/carabiner/plugins/\(Self.entryName(of: interceptor)).so", named: "origin"))
    // No plugin stores this address, so it shows whether create() stored anything.
    var memory: UnsafeMutableRawPointer?
    testHost.enter("\(interceptor.id) create")
    let status = unsafe interceptor.table.interceptor.create?(host, lent.lend(info, named: "crb_create_info"), &memory, &why)
    testHost.leave()
    guard let status = status, status == Status.ok else {
      unsafe lookForLostText(&why, "create() of \(interceptor.id)")
      throw unsafe CreationFailure(
        status: status ?? Status.invalid, reason: why.message.text, isValidation: false, leftInstance: memory != nil)
    }
    return unsafe memory
  }

  /// Reports a reason whose text is in the stack frame of the plugin's function, which has returned.
  ///
  /// - Parameter why: The variable of the frame that called the plugin.
  private static func lookForLostText(_ why: inout crb_error, _ place: String) {
    guard let text = unsafe why.message.ptr else { return }
    let frame = unsafe withUnsafeMutablePointer(to: &why) { UInt(bitPattern: $0) }
    let address = UInt(bitPattern: text)
    guard address < frame, frame - address < 1 << 20, unsafe CTestHost_place(text, text) == CTESTHOST_ON_STACK else { return }
    TestHost.current.breach("LC02", "the text of `why` is on the stack of a function that has returned", at: place)
  }

  /// The name of the entry in a manifest.
  private static func entryName(of interceptor: PluginInterceptor) -> String {
    interceptor.id.split(separator: ".").last.map(String.init) ?? "plugin"
  }

  /// Returns the instance for one call: the shared one, or for the thread class PER_CALL a new one.
  func forCall<Value>(_ body: (UnsafeMutableRawPointer?) -> Value) -> Value {
    guard interceptor.threadClass == UInt32(CRB_THREADS_PER_CALL),
      let own = unsafe try? Self.create(interceptor, host, configuration, Self.entryName(of: interceptor))
    else { return unsafe body(memory) }
    let value = unsafe body(own)
    unsafe destroy(own)
    return value
  }

  /// Drains the instance: no new calls will come.
  func drain() {
    guard let drain = unsafe interceptor.table.interceptor.drain else { return }
    TestHost.current.enter("\(interceptor.id) drain")
    unsafe drain(memory)
    TestHost.current.leave()
  }

  /// Destroys the instance, once.
  func destroy() {
    guard !isDestroyed else { return }
    isDestroyed = true
    unsafe destroy(memory)
  }

  private func destroy(_ memory: UnsafeMutableRawPointer?) {
    guard let destroy = unsafe interceptor.table.interceptor.destroy else { return }
    TestHost.current.enter("\(interceptor.id) destroy")
    unsafe destroy(memory)
    TestHost.current.leave()
    TestHost.current.collectTouches(at: "\(interceptor.id) destroy")
  }

  /// Calls a function of the plugin with the instance.
  func use<Value>(_ name: String, _ body: (UnsafeMutableRawPointer?) -> Value) -> Value {
    TestHost.current.enter("\(interceptor.id) \(name)")
    defer { TestHost.current.leave() }
    return unsafe body(memory)
  }

  /// The table of an extension; nil if the plugin does not have it.
  func `extension`(_ id: String) -> UnsafeRawPointer? {
    guard let function = unsafe interceptor.table.interceptor.extension else { return nil }
    TestHost.current.enter("\(interceptor.id) extension")
    defer { TestHost.current.leave() }
    return unsafe id.withCString { unsafe function(memory, $0) }
  }
}
