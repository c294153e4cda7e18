/// The names of required arguments and input fields. They are looked up once for each owner, so that a short value of a long type takes a
/// short time.
struct RequiredNames {
  private var known: [String: [String]] = [:]

  /// - Parameter owner: The name of the type, directive or field that has the values.
  mutating func names(of owner: String, _ values: @autoclosure () -> [Schema.InputValue]) -> [String] {
    if let names = known[owner] { return names }
    let names = values().filter(\.isRequired).map(\.name)
    known[owner] = names
    return names
  }
}
