public import CCarabiner
internal import Synchronization

/// Makes the registration table of a plugin written in Swift.
public enum PluginExport {
  @safe private struct Table: @unchecked Sendable {
    // Static data from here on: made once, never freed, never changed.

    let pointer: UnsafePointer<crb_plugin>
  }

  private static let tables = Mutex<[ObjectIdentifier: Table]>([:])

  /// The table for a plugin type; the same at every call.
  public static func table<P: Plugin>(
    for type: P.Type, host: UnsafePointer<crb_host>?
  ) -> UnsafePointer<crb_plugin>? {
    guard let host = unsafe host else { return nil }
    return unsafe tables.withLock { tables in
      if let known = tables[ObjectIdentifier(type)] { return known }
      let made = unsafe Table(pointer: make(type, host))
      tables[ObjectIdentifier(type)] = made
      return made
    }.pointer
  }

  private static func make<P: Plugin>(
    _ type: P.Type, _ host: UnsafePointer<crb_host>
  ) -> UnsafePointer<crb_plugin> {
    let identity = type.identity
    PluginFactory.register(unsafe PluginFactory(type, host))

    var interceptor = unsafe crb_interceptor()
    unsafe interceptor.size = unsafe UInt32(MemoryLayout<crb_interceptor>.size)
    unsafe interceptor.thread_class = UInt32(CRB_THREADS_CONCURRENT)
    unsafe interceptor.id = unsafe cString(identity.id)
    unsafe interceptor.version = unsafe cString(identity.version)
    unsafe interceptor.config_schema = unsafe identity.configurationSchema.map { unsafe cString($0) }
    unsafe interceptor.graphql = unsafe crb_graphql_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    unsafe interceptor.http = unsafe crb_http_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    unsafe interceptor.cache = unsafe crb_cache_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    unsafe interceptor.parser = unsafe crb_parser_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    unsafe interceptor.create = { _, info, instance, why in
      guard let info = unsafe info, let instance = unsafe instance else { return crb_status(CRB_E_INVAL) }
      return unsafe PluginFactory.create(info.pointee, instance, why)
    }
    unsafe interceptor.destroy = { instance in
      if let instance = unsafe instance { unsafe Unmanaged<PluginBox>.fromOpaque(instance).release() }
    }
    if let extensions = PluginExtensions(type) {
      PluginExtensions.register(extensions)
      unsafe interceptor.extension = { _, id in unsafe id.flatMap { unsafe PluginExtensions.table($0) } }
    }

    var plugin = unsafe crb_plugin()
    unsafe plugin.size = unsafe UInt32(MemoryLayout<crb_plugin>.size)
    unsafe plugin.abi_major = UInt16(CRB_ABI_MAJOR)
    unsafe plugin.abi_minor_built = UInt16(CRB_ABI_MINOR)
    unsafe plugin.count = 1
    unsafe plugin.items = unsafe UnsafePointer(immortal(Optional(UnsafePointer(immortal(interceptor)))))
    return unsafe UnsafePointer(immortal(plugin))
  }

  static func immortal<Value>(_ value: Value) -> UnsafeMutablePointer<Value> {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
    return unsafe pointer
  }

  /// A static string ends with NUL already.
  static func cString(_ string: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(string.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
