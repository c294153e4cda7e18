package import CarabinerWire

extension Manifest {
  /// The operations that clients of a gateway may run.
  package struct Operations: Sendable, Hashable {
    /// The highest value of a limit.
    package static let highestLimit = OperationSize.highest
    /// The largest number of names of arguments that multiply the cost.
    package static let maximumListArguments = 100

    /// The list of operations; nil if there is none.
    package var allow: AllowList?
    /// The limits for the size of operations; nil for none.
    package var limits: OperationLimits?
    /// Whether clients may ask for the schema.
    package var allowsIntrospection = true
    /// Whether the upstream gets the descriptions of operations, fragments and variables.
    package var keepsDescriptions = false

    /// All operations.
    package init() {}
  }

  /// A list of operations in files.
  package struct AllowList: Sendable, Hashable {
    /// The largest number of files.
    package static let maximumFiles = 64

    /// The paths of the files, with the places of their entries in the manifest.
    package var files: [File] = []
    package var mode: OperationListMode

    /// A file with operations.
    package struct File: Sendable, Hashable {
      package let path: String
      package let pointer: JSONPointer
    }

    /// A list without files.
    package init(mode: OperationListMode) { self.mode = mode }
  }
}
