import Testing

/// Expects that a value is another one. Unlike `#expect`, it takes a value of a mutating function.
func equal<Value: Equatable>(_ value: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(value == expected, sourceLocation: sourceLocation)
}
