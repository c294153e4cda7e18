internal import CCarabiner
internal import CCrash
internal import CLinux
package import CarabinerBridge
internal import CarabinerManifest
package import CarabinerWorkers
internal import Glibc
internal import Synchronization

/// A plugin's shared object, loaded and initialised. It is never unloaded.
@safe package final class PluginLibrary: @unchecked Sendable {
  // Immutable; the pointers are to static data of a library that stays mapped.

  /// The file, as the manifest names it.
  package let path: String
  /// The path of the private copy that is mapped.
  let copyPath: String
  /// SHA-256 of the loaded bytes, in lower-case digits.
  package let digest: String
  /// The plugin's note.
  package let note: PluginNote
  /// How long loading took.
  package let loadTime: Duration
  /// The interceptors it registers.
  package let interceptors: [PluginInterceptor]
  /// The table of host functions the plugin received.
  let host: UnsafePointer<crb_host>
  /// The process that maps the plugin; nil if this one does.
  package let workers: WorkerGroup?
  /// The registration table of a plugin in a worker.
  private let table: WorkerTable?
  /// The number of its file in the group of its workers, and the workers' description of it.
  private let place: (file: Int, description: WorkerDescription)?

  private static let loaded = Mutex<[String: PluginLibrary]>([:])
  /// Serializes loading. Otherwise two loads at once could each see only some of the other's libraries.
  private static let linking = Mutex(())

  /// Loads a plugin: open, check, copy, compare the pin, inspect, map, negotiate, initialise.
  ///
  /// - Parameters:
  ///   - path: The operator's file. It is read once and never mapped.
  ///   - pin: The SHA-256 the file must have, in hexadecimal digits; nil for any.
  ///   - mode: Where the private copy is kept.
  ///   - libraryPaths: The paths the plugin may name in RPATH, RUNPATH and NEEDED.
  /// - Throws: ``HostError`` with the step, the reason and the next step for the operator.
  package static func load(
    path: String, pin: String? = nil, mode: StagedCopy.Mode = StagedCopy.defaultMode, libraryPaths: Set<String> = []
  ) throws(HostError) -> PluginLibrary {
    let dependencies = PluginDependencies(allowed: libraryPaths, mode: mode)
    return try load(try PluginFile(opening: path), pin: pin, dependencies, entry: "")
  }

  /// Loads a plugin whose file is open already.
  ///
  /// - Parameters:
  ///   - dependencies: The libraries it may need, and where private copies are kept.
  ///   - entry: The plugin's name in the manifest; empty if it has none.
  static func load(
    _ file: PluginFile, pin: String?, _ dependencies: PluginDependencies, entry: String
  ) throws(HostError) -> PluginLibrary {
    let start = ContinuousClock.now
    let note = try PluginNote(of: file, pin: pin)
    try dependencies.check(file)
    // A file is loaded once. glibc would return the same mapping, and a second call of the entry function is not needed.
    if let known = loaded.withLock({ $0[file.digest] }) { return known }
    let library = try PluginLibrary(file, note, dependencies, entry, start)
    loaded.withLock { $0[file.digest] = library }
    return library
  }

  /// Whether this process has loaded a file with this digest.
  package static func isLoaded(digest: String) -> Bool { loaded.withLock { $0[digest] != nil } }

  /// The interceptor with this id, or the only one if `id` is nil.
  ///
  /// - Throws: ``HostError`` if there is no such interceptor, or if `id` is nil and there are several.
  package func interceptor(_ id: String?) throws(HostError) -> PluginInterceptor {
    let ids = interceptors.map(\.id).joined(separator: ", ")
    if let id {
      if let found = interceptors.first(where: { $0.id == id }) { return found }
      throw HostError(
        .noSuchInterceptor, step: "select", path: path, "there is no interceptor \(id) in it; it has \(ids)")
    }
    guard interceptors.count == 1, let only = interceptors.first else {
      throw HostError(
        .noSuchInterceptor, step: "select", path: path,
        "it has several interceptors (\(ids)); say which with interceptor: in the manifest")
    }
    return only
  }

  private init(
    _ file: PluginFile, _ note: PluginNote, _ dependencies: PluginDependencies, _ entryName: String,
    _ start: ContinuousClock.Instant
  ) throws(HostError) {
    let copy = try StagedCopy.make(of: file, mode: dependencies.mode)
    let subject = CrashSubject(entry: entryName, file: file.path, digest: file.digest, generation: 0)
    let handle = unsafe try subject.during(.load) { () throws(HostError) in
      unsafe try Self.link(copy, file, note, dependencies)
    }
    guard let symbol = unsafe dlsym(handle, "crb_entry_v1") else {
      throw HostError(
        .noEntry, step: "entry", path: file.path,
        "it does not export crb_entry_v1; declare the function with CRB_EXPORT and check `nm -D`")
    }
    guard unsafe CLinux_isCode(symbol) != 0 else {
      throw HostError(
        .noEntry, step: "entry", path: file.path,
        "its symbol crb_entry_v1 is data; declare a function of this name with CRB_EXPORT")
    }
    unsafe CCrash_note_library(handle, entryName, file.path, file.digest)
    typealias Entry = @convention(c) (UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>?
    let entry = unsafe unsafeBitCast(symbol, to: Entry.self)
    let host = unsafe HostTable.make(for: note.id, subject: subject, library: file.digest)
    unsafe self.host = unsafe host
    guard let registration = unsafe subject.during(.entry, { unsafe entry(host) }) else {
      throw HostError(
        .entryRefused, step: "entry", path: file.path,
        "the plugin's entry function returned NULL: it cannot work with this host; look for a newer or older version of it")
    }
    let reader = unsafe RegistrationReader(registration, path: file.path)
    do throws(HostError) {
      interceptors = try reader.interceptors(note: note)
    } catch {
      throw Self.explained(error, file)
    }
    try subject.during(.initialize) { () throws(HostError) in unsafe try reader.initialize(host: host) }
    path = file.path
    copyPath = copy
    digest = file.digest
    self.note = note
    loadTime = .now - start
    workers = nil
    place = nil
    table = nil
  }

  /// Makes workers map the plugin. This process maps none of it.
  ///
  /// - Parameter index: The number of the file in the group.
  /// - Throws: ``HostError`` if the file is refused, or if a worker cannot map it.
  init(_ file: PluginFile, pin: String?, in workers: WorkerGroup, _ index: Int) throws(HostError) {
    let start = ContinuousClock.now
    let note = try PluginNote(of: file, pin: pin)
    if let links = try? ELFImage(file.bytes).dynamicLinks() {
      try SwiftRuntime.checkForWorker(links, builtWith: note.swiftVersion, path: file.path)
    }
    let description = try workers.load(index)
    let table = WorkerTable(description)
    var interceptors = try unsafe RegistrationReader(table.plugin, path: file.path).interceptors(note: note)
    for index in interceptors.indices { interceptors[index].threadClass = description.interceptors[index].threadClass }
    self.interceptors = interceptors
    unsafe host = unsafe HostTable.ofWorkers
    path = file.path
    copyPath = ""
    digest = file.digest
    self.note = note
    self.workers = workers
    place = (index, description)
    self.table = table
    loadTime = .now - start
  }

  /// Loads a plugin in a worker of its own.
  ///
  /// The layers of confinement that this system lacks are left out, and logged.
  ///
  /// - Throws: ``HostError`` with the step, the reason and the next step for the operator.
  package static func inWorker(path: String) throws(HostError) -> PluginLibrary {
    let file = try PluginFile(opening: path)
    // A file that is refused starts no worker.
    let note = try PluginNote(of: file, pin: nil)
    var settings = WorkerSettings(group: note.id)
    settings.confinement = .available
    let user = WorkerUser.name("nobody").ids.map { WorkerOwner(user: $0.user, group: $0.group) }
    let workers = try WorkerGroup(settings, [file], user: user, coolDown: .seconds(30))
    return try PluginLibrary(file, pin: nil, in: workers, 0)
  }

  /// Makes instances of an interceptor in the workers of the library; nil if it has none.
  func instances(
    of interceptor: PluginInterceptor, _ options: PluginInstance.Options
  ) -> ((_ selfID: crb_self) throws -> (any RemoteInstance)?)? {
    guard let workers, let place else { return nil }
    return { [interceptors, path] selfID in
      guard let index = interceptors.firstIndex(where: { $0.id == interceptor.id }) else { return nil }
      return try WorkerInstance(
        place.description.interceptors[index], place.file, index, in: workers, options, origin: path, selfID: selfID)
    }
  }

  /// Loads the libraries the plugin needs, and then the plugin.
  private static func link(
    _ copy: String, _ file: PluginFile, _ note: PluginNote, _ dependencies: PluginDependencies
  ) throws(HostError) -> UnsafeMutableRawPointer {
    let linked = try linking.withLock { _ throws(HostError) in
      try dependencies.load(for: file, swiftVersion: note.swiftVersion)
      guard let handle = unsafe dlopen(copy, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
        let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
        throw HostError(
          .openFailed, step: "dlopen", path: file.path, "the dynamic linker refuses it: \(reason); \(advice(for: reason))")
      }
      return unsafe Linked(handle: handle)
    }
    return unsafe linked.handle
  }

  private static func advice(for reason: String) -> String {
    guard reason.contains("static TLS block") else { return "a missing symbol or library must be there where the host runs" }
    return "the room of the process for static thread-local storage is used up, because libraries stay mapped after a reload; "
      + "restart the gateway, and \(ReloadObstacles.threadMemoryAdvice)"
  }

  /// Adds the reason to an error about the tables of a plugin, if they may be those of another one.
  private static func explained(_ error: HostError, _ file: PluginFile) -> HostError {
    guard error.code == .badTable, let image = try? ELFImage(file.bytes), let symbol = ReloadObstacles(of: image).uniqueSymbol
    else { return error }
    return HostError(
      error.code, step: error.step, path: error.path,
      "\(error.message). It has symbols that are unique in the process (STB_GNU_UNIQUE), such as \(symbol), and shares them with other "
        + "plugins and with earlier versions of itself; \(ReloadObstacles.uniqueSymbolAdvice)")
  }

  /// A handle that may leave the lock.
  @safe private struct Linked: @unchecked Sendable {
    // Safe: the library is never closed.
    let handle: UnsafeMutableRawPointer
  }
}
