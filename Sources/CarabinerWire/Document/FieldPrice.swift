/// The price of a field.
package struct FieldPrice: Sendable {
  /// The cost of the field itself.
  package var weight: FieldWeight
  /// The weight of each value that the field returns.
  package var valueWeight = 0.0
  /// The number of values that the field returns.
  package var length: ListLength
  /// The names of the fields below whose lists have this length, instead of the field itself.
  package var sizedFields: [String] = []
  /// Whether a field above may state the length.
  package var isSizedFromAbove = false

  package init(weight: FieldWeight, length: ListLength) {
    self.weight = weight
    self.length = length
  }
}

/// The weight of a field with its arguments and directives. Below zero it counts as zero.
package struct FieldWeight: Sendable {
  /// An argument or input field whose value is a variable. It has a weight if the request sets the variable.
  package struct Variable: Sendable {
    let name: String
    let weight: Double
    /// The name of its type, for the weights of input fields.
    let type: String

    package init(name: String, weight: Double, type: String) {
      self.name = name
      self.weight = weight
      self.type = type
    }
  }

  package var constant: Double
  package var variables: [Variable] = []

  package init(_ constant: Double) { self.constant = constant }
}
