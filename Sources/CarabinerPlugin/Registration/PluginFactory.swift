internal import CCarabiner
internal import Synchronization

/// Creates the instances of one plugin type.
@safe final class PluginFactory: @unchecked Sendable {
  // Safe: immutable, and the table of host functions is static.

  private let make: @Sendable (PluginConfiguration, PluginHost) throws -> any Plugin
  private let validating: (any Validating.Type)?
  private let host: UnsafePointer<crb_host>

  /// The factories of all types, by slot.
  private static let registered = Mutex<[PluginFactory]>([])

  init(_ type: any Plugin.Type, _ host: UnsafePointer<crb_host>) {
    make = { try type.init(configuration: $0, host: $1) }
    validating = type as? any Validating.Type
    unsafe self.host = unsafe host
  }

  static func register(_ factories: [PluginFactory]) { registered.withLock { $0 = factories } }

  private static func factory(_ slot: Int) -> PluginFactory? {
    registered.withLock { $0.indices.contains(slot) ? $0[slot] : nil }
  }

  static func create(
    _ slot: Int, _ info: UnsafePointer<crb_create_info>?, _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ why: UnsafeMutablePointer<crb_error>?
  ) -> crb_status {
    guard let info = unsafe info?.pointee, let instance = unsafe instance else { return crb_status(CRB_E_INVAL) }
    guard let factory = factory(slot) else { return crb_status(CRB_E_INTERNAL) }
    let host = unsafe PluginHost(factory.host, info.`self`)
    do {
      let plugin = unsafe try factory.make(
        PluginConfiguration(
          entryName: info.entry_name.text, json: info.config_json.text, origin: info.origin.text, generation: info.generation),
        host)
      unsafe instance.pointee = unsafe Unmanaged.passRetained(PluginBox(plugin, host)).toOpaque()
      return crb_status(CRB_OK)
    } catch {
      // Without an instance, the timers and tasks that `init` started must end.
      host.work.close(nil)
      unsafe RefusalText.write(error, why)
      return crb_status(CRB_E_INVAL)
    }
  }

  static func validate(
    _ slot: Int, _ host: UnsafePointer<crb_host>?, _ configuration: crb_view, _ why: UnsafeMutablePointer<crb_error>?
  ) -> crb_status {
    guard let validating = factory(slot)?.validating else { return crb_status(CRB_OK) }
    do {
      try validating.validate(unsafe PluginConfiguration(entryName: "", json: configuration.text, origin: "", generation: 0))
      return crb_status(CRB_OK)
    } catch {
      unsafe RefusalText.write(error, why)
      return crb_status(CRB_E_INVAL)
    }
  }

  static func drain(_ instance: UnsafeMutableRawPointer) {
    unsafe Unmanaged<PluginBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { $0.draining?.drain() }
  }

  /// Releases the plugin on the host's thread, unless tasks still use it.
  static func destroy(_ instance: UnsafeMutableRawPointer) {
    let box = unsafe Unmanaged<PluginBox>.fromOpaque(instance).takeRetainedValue()
    box.host.work.close(box)
  }
}
