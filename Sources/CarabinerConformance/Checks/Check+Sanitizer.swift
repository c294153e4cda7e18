extension Check {
  /// Why the check proves nothing about a plugin whose sanitizer's runtime is loaded; nil if it does.
  var sanitizerReason: String? {
    switch id {
    case "LC01", "ME11", "ST05": "the runtime of a sanitizer keeps freed memory"
    default: group == "PF" ? "a sanitizer adds to what hooks cost" : nil
    }
  }
}
