internal import CCarabiner
internal import Synchronization

/// The extension tables of one plugin type: handover and self-tests.
@safe final class PluginExtensions: @unchecked Sendable {
  // Safe: immutable, and the tables are never freed.

  private let state: UnsafePointer<crb_state>?
  private let selfTests: UnsafePointer<crb_selftest>?
  private let testNames: [StaticString]

  /// The extensions of all types, by slot.
  private static let registered = Mutex<[PluginExtensions]>([])

  init(_ type: any Plugin.Type, _ slot: PluginSlot) {
    let state = type as? any Handover.Type
    let tests = type as? any SelfTesting.Type
    let names = tests?.testNames
    testNames = names ?? []
    unsafe self.state = unsafe state.map { unsafe UnsafePointer(PluginExport.immortal(Self.table($0))) }
    unsafe selfTests = unsafe names.map { unsafe UnsafePointer(PluginExport.immortal(Self.table(count: $0.count, slot))) }
  }

  static func register(_ extensions: [PluginExtensions]) { registered.withLock { $0 = extensions } }

  private static func own(_ slot: Int) -> PluginExtensions? {
    registered.withLock { $0.indices.contains(slot) ? $0[slot] : nil }
  }

  /// The extension table with this id, for the interceptor's `extension` function; NULL if there is none.
  static func table(_ slot: Int, _ id: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
    guard let id = unsafe id, let own = own(slot) else { return nil }
    return switch unsafe String(cString: id) {
    case "crb.state/1": unsafe own.state.map { unsafe UnsafeRawPointer($0) }
    case "crb.selftest/1": unsafe own.selfTests.map { unsafe UnsafeRawPointer($0) }
    default: nil
    }
  }

  /// The name of a self-test.
  static func testName(_ slot: Int, _ index: UInt32) -> UnsafePointer<CChar>? {
    guard let names = own(slot)?.testNames, names.indices.contains(Int(index)) else { return nil }
    return unsafe PluginExport.cString(names[Int(index)])
  }

  private static func table(_ type: any Handover.Type) -> crb_state {
    var table = crb_state()
    table.size = UInt32(MemoryLayout<crb_state>.size)
    table.version = type.stateVersion
    unsafe table.save = { instance, bytes, why in
      unsafe PluginExtensions.reportingErrors(instance, why) { box in
        guard let saved = try box.handover?.save() else { return CRB_OK }
        unsafe bytes?.pointee = try box.host.buffer(saved).take()
        return CRB_OK
      }
    }
    unsafe table.adopt = { instance, version, bytes, why in
      var isNewer = false
      let status = unsafe PluginExtensions.reportingErrors(instance, why) { box in
        guard let handover = box.handover else { return CRB_E_UNSUPPORTED }
        let known = Swift.type(of: handover).stateVersion
        isNewer = version > known
        guard !isNewer else {
          throw PluginFailure("a newer version wrote this state: its layout is \(version), and \(known) is known")
        }
        try unsafe handover.adopt(bytes.array, version: version)
        return CRB_OK
      }
      return isNewer ? crb_status(CRB_E_UNSUPPORTED) : status
    }
    return table
  }

  private static func table(count: Int, _ slot: PluginSlot) -> crb_selftest {
    var table = crb_selftest()
    table.size = UInt32(MemoryLayout<crb_selftest>.size)
    table.count = UInt32(count)
    unsafe table.name = unsafe slot.testName
    unsafe table.run = { instance, index, why in
      unsafe PluginExtensions.reportingErrors(instance, why) { box in
        try box.selfTesting?.runSelfTest(Int(index)) == true ? CRB_OK : CRB_E_UNSUPPORTED
      }
    }
    return table
  }

  /// Runs the plugin's code outside of a call. If it throws, the message is written to `why`.
  private static func reportingErrors(
    _ instance: UnsafeMutableRawPointer?, _ why: UnsafeMutablePointer<crb_error>?, _ body: (PluginBox) throws -> Int
  ) -> crb_status {
    guard let instance = unsafe instance else { return crb_status(CRB_E_INVAL) }
    return unsafe Unmanaged<PluginBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { box in
      do {
        return crb_status(try body(box))
      } catch {
        unsafe RefusalText.write(error, why)
        return crb_status(CRB_E_INVAL)
      }
    }
  }
}
