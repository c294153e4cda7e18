internal import CCarabiner
internal import CLinux
internal import CTestHost
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWorkers
internal import Glibc
internal import Synchronization

/// The context of a check that loads the plugin itself.
struct LoadingTrial {
  let notes: TrialNotes
  /// A private copy of the plugin.
  let path: String
  let bytes: [UInt8]
  let options: TrialOptions

  /// Whether code of the plugin has run in this process and may be the cause of later failures.
  private static let wasLoaded = Atomic(false)
  static var mayBeChanged: Bool { wasLoaded.load(ordering: .relaxed) }

  typealias Entry = @convention(c) (UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>?

  /// Maps the plugin and finds its entry function. If that fails, the check is skipped, and LD03 reports why.
  func entry(of path: String? = nil) throws -> Entry {
    try checkWhole()
    Self.wasLoaded.store(true, ordering: .relaxed)
    FlightRecord.note("loading", inHook: false)
    TestHost.current.enter("a constructor")
    defer { TestHost.current.leave() }
    guard let handle = unsafe dlopen(path ?? self.path, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
      throw TrialNotes.Skip("it cannot be loaded; see LD03")
    }
    guard let symbol = unsafe dlsym(handle, "crb_entry_v1") else {
      throw TrialNotes.Skip("it does not export crb_entry_v1; see SY01")
    }
    guard unsafe CLinux_isCode(symbol) != 0 else {
      throw TrialNotes.Skip("its symbol crb_entry_v1 is not a function; see SY01")
    }
    // Watched in every check, because a plugin that frees memory of the host would crash this process later.
    unsafe CTestHost_watchFrees(symbol, Self.isForeign)
    unsafe CTestHost_admitRefusals(symbol)
    return unsafe unsafeBitCast(symbol, to: Entry.self)
  }

  /// Whether the plugin may not free some memory.
  static let isForeign: @convention(c) (UnsafeRawPointer?) -> Int32 = { memory in
    unsafe TestHost.current.mayFree(memory) ? 0 : 1
  }

  /// Checks the file first, because mapping a truncated file ends the process.
  ///
  /// - Throws: ``TrialNotes/Skip``; LD01 reports why.
  func checkWhole() throws {
    do { _ = try ELFImage(bytes) } catch { throw TrialNotes.Skip("the file cannot be mapped as a shared object; see LD01") }
  }

  /// Calls an entry function with a host's table.
  func register(_ entry: Entry, _ host: UnsafePointer<crb_host>) -> UnsafePointer<crb_plugin>? {
    TestHost.current.enter("crb_entry_v1")
    defer { TestHost.current.leave() }
    return unsafe entry(host)
  }

  /// Maps the plugin, registers it with a host and reads its table.
  ///
  /// - Parameters:
  ///   - path: Another copy of it; the copy of this trial if nil.
  ///   - shape: How the host differs from an ordinary one.
  func library(of path: String? = nil, host shape: TestHostTable.Shape = TestHostTable.Shape()) throws -> TestHostLibrary {
    let host = unsafe TestHostTable.make(shape, for: "laboratory")
    if options.isolation == .worker { return unsafe try workerLibrary(host) }
    guard let table = unsafe register(try entry(of: path), host) else {
      throw TrialNotes.Skip("its entry function answers NULL; see LD07")
    }
    return try unsafe TestHostLibrary(table, host: host, path: path ?? self.path, bytes: bytes)
  }

  /// The library in a worker. Its table has functions of this process, which cross to the worker.
  private func workerLibrary(_ host: UnsafePointer<crb_host>) throws -> TestHostLibrary {
    try checkWhole()
    FlightRecord.note("loading", inHook: false)
    TestHost.current.enter("a constructor")
    defer { TestHost.current.leave() }
    do {
      let table = unsafe try PluginWorker.load(path, reading: options.files, options.confinement, host)
      return unsafe try TestHostLibrary(table, host: host, path: path, bytes: bytes)
    } catch let failure as WatchedWorker.Failure {
      if failure.step == "dlopen" {
        notes.fail(
          "a worker cannot map it: \(failure.text); if a library is missing, link it with a RUNPATH, or set LD_LIBRARY_PATH")
      }
      throw TrialNotes.Skip("it cannot be loaded in a worker: \(failure.text)")
    } catch let error as HostError {
      throw ConformanceError(message: "\(error)")
    }
  }

  /// Each interceptor of a library, as the context of a check.
  func interceptors(of library: TestHostLibrary) -> [InterceptorTrial] {
    let constants = PluginConstants(of: bytes)
    return library.interceptors.map { interceptor in
      unsafe InterceptorTrial(
        notes: notes, interceptor: interceptor, host: library.host,
        configuration: options.configuration ?? SampleConfiguration.text(for: interceptor.configurationSchema), options: options,
        constants: constants)
    }
  }
}

extension LoadingTrial {
  /// The last error of the dynamic linker.
  static var linkerMessage: String { unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given" }
}
