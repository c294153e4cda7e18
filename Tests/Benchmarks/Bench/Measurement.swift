internal import CBenchmark

/// The time and the allocations of a piece of work.
struct Measurement: Sendable {
  /// CPU time of the whole process for one iteration, in nanoseconds.
  var nanoseconds: Double
  /// Elapsed time of one iteration, in nanoseconds.
  var wallNanoseconds: Double
  /// Allocations for one iteration.
  var allocations: Double

  /// All values as figures, with times in microseconds.
  func figures(_ name: String) -> [Figure] { times(name) + [Figure("\(name).allocs", allocations)] }

  /// The times as figures, in microseconds.
  func times(_ name: String) -> [Figure] {
    [Figure("\(name).us", nanoseconds / 1000), Figure("\(name).wall.us", wallNanoseconds / 1000)]
  }

  /// The number of samples of a measurement. It is odd, so that the median is one of them.
  static let samples = 5

  /// Measures `body`, which runs the work as often as its argument says.
  ///
  /// - Returns: The median of several samples, each about `seconds` long.
  static func of(seconds: Double, _ body: (Int) async throws -> Void) async throws -> Measurement {
    let iterations = try await calibrated(seconds, body)
    var taken: [Measurement] = []
    for _ in 0..<samples { taken.append(try await sample(iterations, body)) }
    return taken.median
  }

  /// Measures several pieces of work alternately, so that changes of the machine's speed affect all of them.
  ///
  /// - Parameter processes: Other processes whose CPU time is part of the cost.
  static func inTurns(
    seconds: Double, besides processes: [Int32] = [], _ bodies: [(Int) async throws -> Void]
  ) async throws -> [Measurement] {
    var iterations: [Int] = []
    for body in bodies { iterations.append(try await calibrated(seconds, body)) }
    var taken = bodies.map { _ in [Measurement]() }
    for _ in 0..<samples {
      for index in bodies.indices { taken[index].append(try await sample(iterations[index], besides: processes, bodies[index])) }
    }
    return taken.map(\.median)
  }

  /// CPU time of this process and of others, in nanoseconds.
  private static func used(besides processes: [Int32]) -> UInt64 {
    processes.reduce(bench_cpu_ns()) { $0 + bench_process_cpu_ns($1) }
  }

  /// One sample of a known number of iterations.
  static func sample(
    _ iterations: Int, besides processes: [Int32] = [], _ body: (Int) async throws -> Void
  ) async throws -> Measurement {
    let allocations = bench_allocations()
    let wall = bench_wall_ns()
    let start = used(besides: processes)
    try await body(iterations)
    let end = used(besides: processes)
    return Measurement(
      nanoseconds: Double(end - start) / Double(iterations),
      wallNanoseconds: Double(bench_wall_ns() - wall) / Double(iterations),
      allocations: Double(bench_allocations() - allocations) / Double(iterations))
  }

  /// The number of iterations that take about this long. It runs some, which also warms up caches.
  static func calibrated(_ seconds: Double, _ body: (Int) async throws -> Void) async throws -> Int {
    var iterations = 1
    while true {
      let start = bench_cpu_ns()
      try await body(iterations)
      let taken = Double(bench_cpu_ns() - start) / 1e9
      if taken > seconds / 4 { return max(1, Int(Double(iterations) * seconds / taken)) }
      iterations *= taken < seconds / 40 ? 8 : 2
    }
  }
}

extension [Measurement] {
  /// The median of each value.
  var median: Measurement {
    Measurement(
      nanoseconds: map(\.nanoseconds).median, wallNanoseconds: map(\.wallNanoseconds).median,
      allocations: map(\.allocations).median)
  }
}

extension [Double] {
  /// The median.
  var median: Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted.count % 2 == 1
      ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
  }
}

/// The cost of one additional item: the slope of cost over number.
struct Slope: Sendable {
  /// The cost of one additional item.
  let each: Double
  /// The measured costs, by number of items.
  let points: [(count: Int, cost: Double)]

  /// Fits a least-squares line through the points.
  init(points: [(count: Int, cost: Double)]) {
    self.points = points
    let number = Double(points.count)
    let x = points.reduce(0) { $0 + Double($1.count) } / number
    let y = points.reduce(0) { $0 + $1.cost } / number
    let above = points.reduce(0) { $0 + (Double($1.count) - x) * ($1.cost - y) }
    let below = points.reduce(0) { $0 + (Double($1.count) - x) * (Double($1.count) - x) }
    each = below > 0 ? above / below : 0
  }

  /// The slope and the points as figures.
  func figures(_ name: String) -> [Figure] {
    [Figure(name, each)] + points.map { Figure("\(name).at.\($0.count)", $0.cost) }
  }
}
