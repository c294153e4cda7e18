import TestTools
import Testing

@testable import CarabinerRedis

@Suite("Delays before Redis is connected again")
struct BackoffTests {
  @Test("100 ms are doubled up to 5 s, each 20 % longer or shorter at random, and begin again after a success", .rule("redis.18"))
  func delays() {
    var generator = SeededGenerator(seed: 7)
    var seen: Set<Duration> = []
    for _ in 0..<200 {
      var backoff = Backoff(RedisLimits())
      for base in [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000] {
        let delay = backoff.delay(&generator)
        seen.insert(delay)
        #expect(delay >= .microseconds(base * 800) && delay <= .microseconds(base * 1200), "\(delay)")
      }
      backoff.reset()
      #expect(backoff.delay(&generator) <= .milliseconds(120))
    }
    #expect(seen.count > 1000)
  }
}
