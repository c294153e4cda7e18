extension String {
  /// A URL without a user's name and password: the part of its authority before the last `@`. Errors are logged and shown.
  package var withoutUser: String {
    guard let scheme = firstRange(of: "://") else { return self }
    let authority = self[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard let at = authority.lastIndex(of: "@") else { return self }
    return String(self[..<scheme.upperBound] + self[authority.index(after: at)...])
  }
}
