internal import CCarabiner

/// The functions of the C interface that receive no instance. A C function captures nothing, so each plugin type of a library
/// needs its own functions.
@safe struct PluginSlot: Sendable {
  typealias Create =
    @convention(c) (
      UnsafePointer<crb_host>?, UnsafePointer<crb_create_info>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      UnsafeMutablePointer<crb_error>?
    ) -> crb_status
  typealias Validate = @convention(c) (UnsafePointer<crb_host>?, crb_view, UnsafeMutablePointer<crb_error>?) -> crb_status
  typealias Extension = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> UnsafeRawPointer?
  typealias TestName = @convention(c) (UInt32) -> UnsafePointer<CChar>?

  let create: Create
  let validate: Validate
  let find: Extension
  let testName: TestName

  private init(_ create: Create, _ validate: Validate, _ find: Extension, _ testName: TestName) {
    unsafe self.create = unsafe create
    unsafe self.validate = unsafe validate
    unsafe self.find = unsafe find
    unsafe self.testName = unsafe testName
  }

  /// One slot for each plugin type that a library may export.
  static let all: [PluginSlot] = unsafe [
    PluginSlot(
      { unsafe PluginFactory.create(0, $1, $2, $3) }, { unsafe PluginFactory.validate(0, $0, $1, $2) },
      { unsafe PluginExtensions.table(0, $1) }, { unsafe PluginExtensions.testName(0, $0) }),
    PluginSlot(
      { unsafe PluginFactory.create(1, $1, $2, $3) }, { unsafe PluginFactory.validate(1, $0, $1, $2) },
      { unsafe PluginExtensions.table(1, $1) }, { unsafe PluginExtensions.testName(1, $0) }),
    PluginSlot(
      { unsafe PluginFactory.create(2, $1, $2, $3) }, { unsafe PluginFactory.validate(2, $0, $1, $2) },
      { unsafe PluginExtensions.table(2, $1) }, { unsafe PluginExtensions.testName(2, $0) }),
    PluginSlot(
      { unsafe PluginFactory.create(3, $1, $2, $3) }, { unsafe PluginFactory.validate(3, $0, $1, $2) },
      { unsafe PluginExtensions.table(3, $1) }, { unsafe PluginExtensions.testName(3, $0) }),
    PluginSlot(
      { unsafe PluginFactory.create(4, $1, $2, $3) }, { unsafe PluginFactory.validate(4, $0, $1, $2) },
      { unsafe PluginExtensions.table(4, $1) }, { unsafe PluginExtensions.testName(4, $0) }),
    PluginSlot(
      { unsafe PluginFactory.create(5, $1, $2, $3) }, { unsafe PluginFactory.validate(5, $0, $1, $2) },
      { unsafe PluginExtensions.table(5, $1) }, { unsafe PluginExtensions.testName(5, $0) }),
    PluginSlot(
      { unsafe PluginFactory.create(6, $1, $2, $3) }, { unsafe PluginFactory.validate(6, $0, $1, $2) },
      { unsafe PluginExtensions.table(6, $1) }, { unsafe PluginExtensions.testName(6, $0) }),
    PluginSlot(
      { unsafe PluginFactory.create(7, $1, $2, $3) }, { unsafe PluginFactory.validate(7, $0, $1, $2) },
      { unsafe PluginExtensions.table(7, $1) }, { unsafe PluginExtensions.testName(7, $0) }),
  ]
}
