import CarabinerManifest
import Testing

@Suite("Durations and sizes")
struct QuantityTests {
  @Test(
    "durations are read exactly and written in the largest unit that fits",
    arguments: [
      ("0s", Duration.zero, "0s"), ("250ms", .milliseconds(250), "250ms"), ("1.5s", .milliseconds(1500), "1500ms"),
      ("90s", .seconds(90), "90s"), ("120s", .seconds(120), "2m"), ("0.5h", .seconds(1800), "30m"),
      ("720h", .seconds(2_592_000), "720h"), ("0.000001ms", .nanoseconds(1), "0.000001ms"), ("007s", .seconds(7), "7s"),
    ])
  func durations(text: String, duration: Duration, printed: String) throws {
    #expect(try DurationText.parse(text) == duration)
    #expect(DurationText.print(duration) == printed)
    #expect(try DurationText.parse(printed) == duration)
  }

  @Test(
    "a text that is not a duration is refused with the notation to use",
    arguments: [
      "", "s", "1", "-1s", "+1s", " 1s", "1 s", "1S", "1sec", "1.s", ".5s", "1..5s", "1.5.1s", "1e3s", "721h", "0.0000001ms",
      "99999999999999999999s", "١s", "１s",
    ])
  func noDurations(text: String) {
    let fault = #expect(throws: MalformedQuantity.self) { try DurationText.parse(text) }
    #expect(fault?.description.isEmpty == false)
  }

  @Test(
    "units of size are powers of 1024",
    arguments: [
      ("0", 0, "0B"), ("512", 512, "512B"), ("512B", 512, "512B"), ("1KiB", 1024, "1KiB"), ("1.5KiB", 1536, "1536B"),
      ("1024KiB", 1 << 20, "1MiB"), ("64MiB", 64 << 20, "64MiB"), ("1024GiB", 1 << 40, "1024GiB"),
    ])
  func sizes(text: String, bytes: Int, printed: String) throws {
    #expect(try ByteSizeText.parse(text) == bytes)
    #expect(ByteSizeText.print(bytes) == printed)
    #expect(try ByteSizeText.parse(printed) == bytes)
  }

  @Test(
    "a text that is not a size is refused",
    arguments: ["", "KiB", "1KB", "1kib", "1.1B", "1025GiB", "-1", "1e3", "0x10", "1 KiB", "1."])
  func noSizes(text: String) {
    #expect(throws: MalformedQuantity.self) { try ByteSizeText.parse(text) }
  }
}
