package import CCarabiner
internal import CarabinerABI
internal import CarabinerWire

/// Reads and validates a plugin's registration table.
@safe package struct RegistrationReader {
  /// How many interceptors a library may register.
  package static let maximumInterceptors: UInt32 = 64
  /// The maximum sizes of a text and of a configuration schema in bytes, with the NUL.
  package static let (maximumTextBytes, maximumSchemaBytes) = (4096, 1 << 20)

  private let pointer: UnsafePointer<crb_plugin>
  private let path: String

  /// Creates a reader of the table that an entry function returned.
  package init(_ pointer: UnsafePointer<crb_plugin>, path: String) {
    unsafe self.pointer = unsafe pointer
    self.path = path
  }

  /// The registered interceptors.
  ///
  /// - Throws: ``HostError`` if the table is not valid or needs another host.
  package func interceptors(note: PluginNote) throws(HostError) -> [PluginInterceptor] {
    let mandatory = unsafe MemoryLayout<crb_plugin>.offset(of: \.`init`) ?? 0
    guard unsafe UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self) >= mandatory else { throw bad("its size is too small") }
    let table = unsafe InterceptorTable.copy(pointer, crb_plugin())
    guard unsafe table.abi_major == UInt16(CRB_ABI_MAJOR) else {
      throw HostError(
        .abiMajor, step: "negotiate", path: path,
        unsafe "its table uses ABI \(table.abi_major), but this host uses \(CRB_ABI_MAJOR)")
    }
    guard unsafe table.abi_minor_required <= UInt16(CRB_ABI_MINOR) else {
      throw HostError(
        .abiTooNew, step: "negotiate", path: path,
        unsafe "it needs ABI \(table.abi_major).\(table.abi_minor_required), this host has \(CRB_ABI_MAJOR).\(CRB_ABI_MINOR); update the host"
      )
    }
    guard unsafe table.count > 0, unsafe table.count <= Self.maximumInterceptors, let items = unsafe table.items else {
      throw bad(unsafe "it registers \(table.count) interceptors (1 to \(Self.maximumInterceptors) are allowed)")
    }
    var interceptors: [PluginInterceptor] = []
    for index in unsafe 0..<Int(table.count) {
      guard let item = unsafe items[index] else { throw bad("interceptor \(index) is NULL") }
      let interceptor = unsafe try read(item, index)
      guard !interceptors.contains(where: { $0.id == interceptor.id }) else {
        throw bad("two interceptors have the id \(interceptor.id)")
      }
      interceptors.append(interceptor)
    }
    guard interceptors.first?.id == note.id else {
      throw bad("its note says \(note.id) but its table begins with \(interceptors.first?.id ?? "")")
    }
    return interceptors
  }

  /// Runs the library's init function, if it has one.
  package func initialize(host: UnsafePointer<crb_host>) throws(HostError) {
    guard let start = unsafe InterceptorTable.copy(pointer, crb_plugin()).`init` else { return }
    var path = path
    let status = path.withUTF8 { unsafe start(host, crb_view(ptr: $0.baseAddress, len: $0.count)) }
    guard status == Status.ok else {
      throw HostError(
        .initFailed, step: "init", path: self.path, "its init function failed with status \(status); look at its documentation")
    }
  }

  private func read(_ item: UnsafePointer<crb_interceptor>, _ index: Int) throws(HostError) -> PluginInterceptor {
    let mandatory = unsafe (MemoryLayout<crb_interceptor>.offset(of: \.create) ?? 0) + MemoryLayout<UnsafeRawPointer>.size
    guard unsafe UnsafeRawPointer(item).loadUnaligned(as: UInt32.self) >= mandatory else {
      throw bad("the size of interceptor \(index) is too small")
    }
    let table = unsafe InterceptorTable(item)
    guard let id = unsafe text(table.interceptor.id), PluginNote.isIdentifier(id) else {
      throw bad("the id of interceptor \(index) is not a reverse-DNS name")
    }
    guard let version = unsafe text(table.interceptor.version), !version.isEmpty else { throw bad("\(id) has no version") }
    guard unsafe (UInt32(CRB_THREADS_PER_CALL)...UInt32(CRB_THREADS_CONCURRENT)).contains(table.interceptor.thread_class) else {
      throw bad(unsafe "\(id) has the unknown thread class \(table.interceptor.thread_class)")
    }
    guard unsafe table.interceptor.create != nil else { throw bad("\(id) has no create function") }
    let stages: [(String, Bool, Bool)] = unsafe [
      ("graphql.on_request", table.graphQL != nil, table.graphQL?.on_request != nil),
      ("http.on_request", table.http != nil, table.http?.on_request != nil),
      ("cache.on_read", table.cache != nil, table.cache?.on_read != nil),
      ("parser.on_head", table.parser != nil, table.parser?.on_head != nil),
    ]
    guard stages.contains(where: \.1) else { throw bad("\(id) has no stage") }
    if let missing = stages.first(where: { $0.1 && !$0.2 }) { throw bad("\(id) leaves the mandatory slot \(missing.0) NULL") }
    let accept = unsafe table.parser?.accept.map { unsafe text($0, limit: Int(CRB_ACCEPT_MAX) + 1) ?? "" }
    guard accept.map(Self.isAccept) ?? true else {
      throw bad("the text accept of \(id)'s parser is not a list of media types, or is longer than \(CRB_ACCEPT_MAX) bytes")
    }
    return unsafe PluginInterceptor(
      id: id, version: version, name: text(table.interceptor.name), vendor: text(table.interceptor.vendor),
      url: text(table.interceptor.url),
      configurationSchema: text(table.interceptor.config_schema, limit: Self.maximumSchemaBytes),
      threadClass: table.interceptor.thread_class, accept: accept, table: table)
  }

  /// Whether a text can be part of the header Accept.
  private static func isAccept(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
      && text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { MediaType(String($0)) != nil }
  }

  /// A NUL-terminated text of the plugin; nil if it has `limit` bytes or more, or is not UTF-8.
  private func text(_ pointer: UnsafePointer<CChar>?, limit: Int = Self.maximumTextBytes) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let byte = unsafe UInt8(bitPattern: pointer[bytes.count])
      if byte == 0 { return String(validating: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }

  private func bad(_ what: String) -> HostError {
    HostError(.badTable, step: "table", path: path, "its registration table cannot be used: \(what); ask the plugin's author")
  }
}
