internal import CCarabiner
internal import CLaboratory
internal import CarabinerHost
internal import Glibc
internal import Synchronization

/// What a check has that loads the plugin itself.
struct LoadingTrial {
  let notes: TrialNotes
  /// A private copy of the plugin.
  let path: String
  let bytes: [UInt8]
  let options: TrialOptions

  /// Whether code of the plugin's has run in this process: what then goes wrong may be its doing.
  private static let wasLoaded = Atomic(false)
  static var mayBeChanged: Bool { wasLoaded.load(ordering: .relaxed) }

  typealias Entry = @convention(c) (UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>?

  /// Maps the plugin and finds its entry function; a check that cannot go on without is skipped, for LD03 says what is wrong.
  func entry(of path: String? = nil) throws -> Entry {
    try checkWhole()
    Self.wasLoaded.store(true, ordering: .relaxed)
    LaboratoryRecord.note("loading", inHook: false)
    Laboratory.current.enter("a constructor")
    defer { Laboratory.current.leave() }
    guard let handle = unsafe dlopen(path ?? self.path, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
      throw TrialNotes.Skip("it cannot be loaded; see LD03")
    }
    guard let symbol = unsafe dlsym(handle, "crb_entry_v1") else {
      throw TrialNotes.Skip("it does not export crb_entry_v1; see SY01")
    }
    // In every check: what a plugin frees of ours would end this process at some other place.
    unsafe CLaboratory_watchFrees(symbol, Self.isForeign)
    return unsafe unsafeBitCast(symbol, to: Entry.self)
  }

  /// Whether some memory is not the plugin's to free.
  static let isForeign: @convention(c) (UnsafeRawPointer?) -> Int32 = { memory in
    unsafe Laboratory.current.mayFree(memory) ? 0 : 1
  }

  /// Mapping a file that was cut short ends the process.
  ///
  /// - Throws: ``TrialNotes/Skip``, for LD01 says what is wrong.
  func checkWhole() throws {
    do { _ = try ELFImage(bytes) } catch { throw TrialNotes.Skip("the file cannot be mapped as a shared object; see LD01") }
  }

  /// Calls an entry function with a host's table.
  func register(_ entry: Entry, _ host: UnsafePointer<crb_host>) -> UnsafePointer<crb_plugin>? {
    Laboratory.current.enter("crb_entry_v1")
    defer { Laboratory.current.leave() }
    return unsafe entry(host)
  }

  /// Maps the plugin, registers it with a host and reads what it registers.
  ///
  /// - Parameters:
  ///   - path: Another copy of it; this trial's own if nil.
  ///   - shape: How the host differs from an ordinary one.
  func library(of path: String? = nil, host shape: LaboratoryTable.Shape = LaboratoryTable.Shape()) throws -> LaboratoryLibrary {
    let host = unsafe LaboratoryTable.make(shape, for: "laboratory")
    guard let table = unsafe register(try entry(of: path), host) else {
      throw TrialNotes.Skip("its entry function answers NULL; see LD07")
    }
    return try unsafe LaboratoryLibrary(table, host: host, path: path ?? self.path, bytes: bytes)
  }

  /// Each interceptor of a library, with what a check needs to watch it at work.
  func interceptors(of library: LaboratoryLibrary) -> [InterceptorTrial] {
    library.interceptors.map { interceptor in
      unsafe InterceptorTrial(
        notes: notes, interceptor: interceptor, host: library.host,
        configuration: options.configuration ?? SampleConfiguration.text(for: interceptor.configurationSchema), options: options,
        bytes: bytes)
    }
  }
}

extension LoadingTrial {
  /// What the dynamic linker said last.
  static var linkerMessage: String { unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given" }
}
