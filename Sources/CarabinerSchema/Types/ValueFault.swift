/// The reason why a value does not fit its type. Literals and the values of variables have the same reasons, so that messages agree.
enum ValueFault {
  /// The value, as a text for readers, is not one of the type.
  case wrong(String, String)
  case unknownField(String, of: String)
  case missingField(String, of: String)
  /// A value of an input object with `@oneOf` has no field, several, or null.
  case notOneField(String)

  var message: String {
    switch self {
    case .wrong(let value, let type): "\(value) is not of type \(type)"
    case .unknownField(let name, let type): "\(type) has no field \(name)"
    case .missingField(let name, let type): "\(type) needs the field \(name)"
    case .notOneField(let type): "a value of \(type) has exactly one field, which is not null"
    }
  }
}
