internal import Carabiner

/// A change of header fields that a hook staged.
struct HeaderEdit {
  let name: String
  /// The new value; nil removes the fields of that name.
  let value: String?
  /// Whether fields of that name stay as they are and this one is added.
  let keepsOthers: Bool
}

extension HTTPHeaders {
  /// Applies a staged change.
  mutating func apply(_ edit: consuming HeaderEdit) {
    if edit.keepsOthers, let value = edit.value {
      add(name: edit.name, value: value)
    } else {
      self[edit.name] = edit.value
    }
  }
}
