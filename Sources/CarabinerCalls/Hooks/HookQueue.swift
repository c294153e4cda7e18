internal import Synchronization

/// The values of one hook in one direction. They leave it in the order in which they entered it.
///
/// Each value has a place, which its closure keeps. The values that the closure passes on wait until all places before it are done. A
/// place is done when its closure was released, or was called and the hook has returned. A closure that a hook keeps after it was called
/// thus does not stop the values after it.
final class HookQueue<Value: Sendable>: Sendable {
  typealias Output = (result: Result<Value, ConnectError>, life: CallLife)

  private struct Place {
    var outputs: [Output] = []
    var isUsed = false
    var hasReturned = false
    var isReleased = false

    var isDone: Bool { isReleased || isUsed && hasReturned }
  }

  private struct State {
    var places: [Place] = []
    /// The number of the first place.
    var first = 0
    /// Values that may leave now.
    var leaving: [Output] = []
    var isDelivering = false
    var isClosed = false

    /// Moves the values that may leave now.
    mutating func settle() {
      var done = 0
      for index in places.indices {
        leaving += places[index].outputs
        places[index].outputs = []
        guard places[index].isDone else { break }
        done += 1
      }
      places.removeFirst(done)
      first += done
    }
  }

  private let hook: Hook<Value>
  private let queue: CallQueue
  private let adopt: @Sendable (_ value: Value, _ given: Value) -> Value
  private let next: @Sendable (Result<Value, ConnectError>, CallLife) -> Void
  private let changed: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - queue: Passes on the values that may leave after a closure is released. A release may happen in any code.
  ///   - adopt: Completes a value that the hook passes on by the value that it was given.
  ///   - changed: Called when fewer values are held.
  ///   - next: Gets each value when it leaves.
  init(
    _ hook: Hook<Value>, queue: CallQueue, adopt: @escaping @Sendable (_ value: Value, _ given: Value) -> Value,
    changed: @escaping @Sendable () -> Void, next: @escaping @Sendable (Result<Value, ConnectError>, CallLife) -> Void
  ) {
    self.hook = hook
    self.queue = queue
    self.adopt = adopt
    self.changed = changed
    self.next = next
  }

  /// The number of values that entered and have not left.
  var count: Int { state.withLock { $0.places.count } }

  /// Whether no value is inside or on its way out.
  var isIdle: Bool { state.withLock { $0.places.isEmpty && $0.leaving.isEmpty && !$0.isDelivering } }

  /// Runs the hook with a value.
  func enter(_ value: Value, _ life: CallLife) {
    let number: Int? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.places.append(Place())
      return state.first + state.places.count - 1
    }
    guard let number else { return }
    run(value, HookPlace(self, number, value, life))
    change(number) { $0.hasReturned = true }
    deliver()
  }

  private func run(_ value: Value, _ place: HookPlace<Value>) { hook.run(value) { place.proceed($0) } }

  /// Drops all values, and accepts no more.
  func close() {
    let dropped = state.withLock { state in
      defer { (state.places, state.leaving, state.isClosed) = ([], [], true) }
      return (state.places, state.leaving)
    }
    // Released here, outside the lock, because releasing runs code of the user.
    withExtendedLifetime(dropped) {}
  }

  // MARK: From places

  fileprivate func proceed(_ result: Result<Value, ConnectError>, _ place: HookPlace<Value>) {
    let result = result.map { adopt($0, place.given) }
    let isPassed: Bool? = state.withLock { state in
      guard !state.isClosed else { return nil }
      guard place.number >= state.first else {
        state.leaving.append((result, place.life))
        return true
      }
      state.places[place.number - state.first].outputs.append((result, place.life))
      return false
    }
    guard let isPassed else { return }
    if !isPassed { change(place.number) { $0.isUsed = true } }
    deliver()
  }

  fileprivate func released(_ place: HookPlace<Value>) {
    if !place.wasUsed { place.life.wasReleased(by: hook.interceptor) }
    guard change(place.number, { $0.isReleased = true }) else { return }
    queue.add { self.deliver() }
  }

  /// Notes a change of a place that is not done. Returns false if it was done before.
  @discardableResult private func change(_ number: Int, _ change: (inout Place) -> Void) -> Bool {
    state.withLock { state in
      guard !state.isClosed, number >= state.first else { return false }
      change(&state.places[number - state.first])
      state.settle()
      return true
    }
  }

  /// Passes on the values that may leave now, on one thread at a time.
  private func deliver() {
    while true {
      let batch: [Output]? = state.withLock { state in
        guard !state.isDelivering, !state.leaving.isEmpty else { return nil }
        state.isDelivering = true
        defer { state.leaving = [] }
        return state.leaving
      }
      guard let batch else { break }
      for output in batch { next(output.result, output.life) }
      state.withLock { $0.isDelivering = false }
    }
    changed()
  }
}

/// The place of a value in a hook. The closure that the hook was given keeps it.
private final class HookPlace<Value: Sendable>: Sendable {
  let number: Int
  let given: Value
  let life: CallLife
  private let queue: HookQueue<Value>
  private let isUsed = Atomic<Bool>(false)

  init(_ queue: HookQueue<Value>, _ number: Int, _ given: Value, _ life: CallLife) {
    self.queue = queue
    self.number = number
    self.given = given
    self.life = life
  }

  deinit { queue.released(self) }

  var wasUsed: Bool { isUsed.load(ordering: .acquiring) }

  func proceed(_ result: Result<Value, ConnectError>) {
    isUsed.store(true, ordering: .releasing)
    queue.proceed(result, self)
  }
}
