import Testing

@testable import CarabinerCurl

@Suite("libcurl's messages about a stream")
struct StreamMessagesTests {
  private func isRefused(_ messages: String...) -> Bool {
    var read = StreamMessages()
    for message in messages { read.read(Array(message.utf8)) }
    return read.isRefused
  }

  @Test("a GOAWAY refuses the streams after the last one that it names, and no others")
  func goaway() {
    let opened = "Using Stream ID: 5 (easy handle 0x559b7b898c60)\n"
    #expect(isRefused(opened, "recveived GOAWAY, error=0, last_stream=3\n"))
    #expect(!isRefused(opened, "recveived GOAWAY, error=0, last_stream=5\n"))
    #expect(!isRefused(opened, "recveived GOAWAY, error=0, last_stream=2147483647\n"))
    #expect(
      isRefused(opened, "recveived GOAWAY, error=0, last_stream=2147483647\n", "recveived GOAWAY, error=0, last_stream=3\n"))
  }

  @Test("messages before the stream are about another connection")
  func earlier() {
    #expect(!isRefused("recveived GOAWAY, error=0, last_stream=3\n", "Using Stream ID: 5 (easy handle 0x1)\n"))
    #expect(!isRefused("recveived GOAWAY, error=0, last_stream=3\n"))
    #expect(!isRefused("REFUSED_STREAM, retrying a fresh connect\n"))
    #expect(
      !isRefused(
        "Using Stream ID: 7 (easy handle 0x1)\n", "REFUSED_STREAM, retrying a fresh connect\n",
        "Using Stream ID: 1 (easy handle 0x1)\n"))
  }

  @Test(
    "other and malformed messages refuse nothing",
    arguments: [
      "", "recveived GOAWAY, ", "recveived GOAWAY, error=0, last_stream=", "recveived GOAWAY, error=0, last_stream=-1",
      "recveived GOAWAY, error=0, last_stream=99999999999999999999", "recveived GOAWAY, error=0", "Connection died, retrying",
      "h2h3 [x: REFUSED_STREAM, retrying]", "Connection #0 to host localhost left intact",
    ])
  func others(message: String) {
    #expect(!isRefused("Using Stream ID: 5 (easy handle 0x1)\n", message))
  }

  @Test(
    "a stream whose number cannot be read is not refused by a GOAWAY", arguments: ["Using Stream ID: ", "Using Stream ID: x5"])
  func number(message: String) {
    #expect(!isRefused(message, "recveived GOAWAY, error=0, last_stream=3\n"))
  }
}
