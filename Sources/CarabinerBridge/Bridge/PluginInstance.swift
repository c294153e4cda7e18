package import CCarabiner
package import Carabiner
internal import CarabinerABI
package import CarabinerManifest
internal import Synchronization

/// One manifest entry's instance of an interceptor.
@safe package final class PluginInstance: @unchecked Sendable {
  // Immutable after `init`; `instance` belongs to the plugin, which promised its thread class, and `serial` keeps that promise.

  /// The options of an entry in the manifest.
  package struct Options: Sendable {
    /// The entry's name.
    package var name: String
    /// The plugin's configuration as JSON text.
    package var configuration: String = "{}"
    /// The secrets in the configuration. No message may show them.
    package var redaction = SecretRedaction()
    /// The services that it may query.
    package var grants: Set<String> = []
    /// The store of its chain.
    package var store: ApolloStore?
    /// Time and network of its generation.
    package var environment = HostEnvironment.withoutLoop
    /// How many bytes of buffers it may hold at once.
    package var maximumBufferBytes = Manifest.Plugin.defaultBufferBytes
    /// The policy for a call in which this plugin broke the contract.
    package var onFault = FaultPolicy.fail
    /// Whether it may never be passed over by its circuit breaker.
    package var isMandatory = false
    /// How long its circuit breaker stays open.
    package var breakerCoolDown = Manifest.Settings.defaultBreakerCoolDown
    /// The values that the circuit breakers of all entries share.
    package var board = BreakerRegistry { MonotonicClock.nanoseconds }
    /// How long one hook may stay pending; nil for no limit beside the request's own.
    package var hookTimeout: Duration?
    /// Whether clients of a gateway get the messages of its refusals.
    package var sendsMessagesToClients = false
    /// Which generation of the manifest this is.
    package var generation: UInt64 = 1

    /// Options of an entry.
    package init(name: String) { self.name = name }

    /// Whether an instance with the other options would be the same.
    package func isSame(as other: Options) -> Bool {
      name == other.name && configuration == other.configuration && redaction == other.redaction && grants == other.grants
        && store === other.store && environment === other.environment && maximumBufferBytes == other.maximumBufferBytes
        && onFault == other.onFault && isMandatory == other.isMandatory
        && breakerCoolDown == other.breakerCoolDown && hookTimeout == other.hookTimeout
        && sendsMessagesToClients == other.sendsMessagesToClients
    }
  }

  package let options: Options
  package let id: String
  let threadClass: UInt32
  /// The media types that its parser adds to the field Accept.
  let accept: String?
  let table: InterceptorTable
  let instance: UnsafeMutableRawPointer?
  /// The instance in another process; nil if the plugin runs in this one.
  package let remote: (any RemoteInstance)?
  private let host: UnsafePointer<crb_host>
  /// Identifies the plugin in a crash report.
  let subject: CrashSubject
  private let serial = Mutex(())
  package let counters = PluginCounters()
  /// The breaker that leaves it out after faults; nil unless its entry asks for one.
  package let breaker: CircuitBreaker?

  package var name: String { options.name }

  /// Creates an instance.
  ///
  /// - Parameters:
  ///   - host: The table of functions that the plugin got.
  ///   - path: The file of the plugin, as the manifest names it.
  ///   - digest: SHA-256 of the file.
  ///   - makeRemote: Creates the instance in another process; nil if the plugin runs in this one.
  /// - Throws: ``HostError`` with the plugin's message about its configuration.
  package init(
    _ interceptor: PluginInterceptor, _ host: UnsafePointer<crb_host>, path: String, digest: String, _ options: Options,
    makeRemote: ((_ selfID: crb_self) throws -> (any RemoteInstance)?)? = nil
  ) throws {
    self.options = options
    breaker =
      if case .openAfter(let threshold) = options.onFault {
        CircuitBreaker(entry: options.name, threshold: threshold, coolDown: options.breakerCoolDown, board: options.board)
      } else {
        nil
      }
    id = interceptor.id
    // The other process keeps the promise of the thread class.
    threadClass = makeRemote == nil ? interceptor.threadClass : UInt32(CRB_THREADS_CONCURRENT)
    accept = interceptor.accept
    table = interceptor.table
    unsafe self.host = unsafe host
    subject = CrashSubject(entry: options.name, file: path, digest: digest, generation: options.generation)
    let registered = PluginRegistry.shared.register(options, subject: subject, library: digest)
    do {
      remote = try makeRemote?(registered)
      if let remote {
        unsafe instance = unsafe remote.pointer
      } else {
        unsafe instance =
          unsafe threadClass == UInt32(CRB_THREADS_PER_CALL)
          ? nil : try Self.create(table, host, options, path, registered, subject)
      }
    } catch {
      PluginRegistry.shared.retire(registered)
      throw error
    }
    selfID = registered
    origin = path
  }

  package let selfID: crb_self
  private let origin: String

  private static func create(
    _ table: InterceptorTable, _ host: UnsafePointer<crb_host>, _ options: Options, _ origin: String, _ id: crb_self,
    _ subject: CrashSubject
  ) throws -> UnsafeMutableRawPointer? {
    var text = Arena()
    defer { text.deallocate() }
    var info = unsafe crb_create_info()
    unsafe info.size = unsafe UInt32(MemoryLayout<crb_create_info>.size)
    unsafe info.`self` = id
    unsafe info.generation = options.generation
    unsafe info.entry_name = unsafe text.copy(options.name, limit: .max) ?? .absent
    unsafe info.config_json = unsafe text.copy(options.configuration, limit: .max) ?? .absent
    unsafe info.origin = unsafe text.copy(origin, limit: .max) ?? .absent
    var why = unsafe crb_error()
    unsafe why.size = unsafe UInt32(MemoryLayout<crb_error>.size)
    if let validate = unsafe table.interceptor.validate {
      let status = subject.during(.validate) { unsafe validate(host, info.config_json, &why) }
      guard status == Status.ok else { throw unsafe refusal(options, origin, "refuses its configuration", why, status) }
    }
    var instance: UnsafeMutableRawPointer?
    let status = subject.during(.create) { unsafe table.interceptor.create(host, &info, &instance, &why) }
    guard status == Status.ok else { throw unsafe refusal(options, origin, "cannot be created", why, status) }
    return unsafe instance
  }

  private static func refusal(
    _ options: Options, _ origin: String, _ what: String, _ why: crb_error, _ status: crb_status
  ) -> HostError {
    let reason =
      unsafe why.message.isAbsent
      ? "it gave no reason (status \(status))" : unsafe why.message.text(atMost: PluginError.maximumMessageBytes)
    return HostError(
      .configurationRefused, step: "create", path: origin,
      "the plugin of entry \(options.name) \(what): \(options.redaction(reason)); correct its config in the manifest")
  }

  /// Runs a hook while no other hook of this instance runs, as SERIAL plugins require.
  func alone<Value>(_ hook: () -> Value) -> Value { serial.withLock { _ in hook() } }

  /// The instance for one call: the shared one, or a fresh one.
  func instanceForCall() throws -> UnsafeMutableRawPointer? {
    guard threadClass == UInt32(CRB_THREADS_PER_CALL) else { return unsafe instance }
    return unsafe try Self.create(table, host, options, origin, selfID, subject)
  }

  func endOfCall(_ instance: UnsafeMutableRawPointer?) {
    if threadClass == UInt32(CRB_THREADS_PER_CALL) { unsafe destroy(instance) }
  }

  deinit {
    defer { PluginRegistry.shared.retire(selfID) }
    guard threadClass != UInt32(CRB_THREADS_PER_CALL) else { return }
    subject.during(.drain) { unsafe table.interceptor.drain?(instance) }
    unsafe destroy(instance)
  }

  private func destroy(_ instance: UnsafeMutableRawPointer?) {
    subject.during(.destroy) { unsafe table.interceptor.destroy?(instance) }
  }
}
