/// A part of a large value, in memory of its own. Otherwise, nested selection sets could be larger than a stack.
@propertyWrapper
public struct Boxed<Value: Sendable & Hashable>: Sendable, Hashable {
  private var box: Box

  /// Moves a value into memory of its own.
  public init(_ value: Value) { box = Box(value) }

  /// The value.
  public var wrappedValue: Value {
    get { box.value }
    set { self = Boxed(newValue) }
  }

  public static func == (left: Self, right: Self) -> Bool { left.box === right.box || left.box.value == right.box.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(box.value) }

  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }
}

/// As ``Boxed``, for a value that may be nil. Nil needs no memory.
@propertyWrapper
public struct BoxedOptional<Value: Sendable & Hashable>: Sendable, Hashable {
  private var box: Boxed<Value>?

  /// Moves a value into memory of its own.
  public init(_ value: Value?) { box = value.map { Boxed($0) } }

  /// The value; nil if there is none.
  public var wrappedValue: Value? {
    get { box?.wrappedValue }
    set { self = BoxedOptional(newValue) }
  }
}
