/// The list size that `@listSize` states for a field.
struct ListSize: Sendable {
  /// Nil if it is not stated.
  var assumedSize: Double?
  var slicingArguments: [String] = []
  var sizedFields: [String] = []
  var requiresOneSlicingArgument = true
}
