internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

extension Subject {
  static let texts: [Subject] = json + others

  private static let json = Samples.json.flatMap { sample in
    [
      Subject("json.locate.\(sample.name)") { _ in
        let text = sample.text()
        return { count in
          for _ in 0..<count where try !JSONMembers(locating: text.span).isObject {
            throw SubjectError(description: "the text is not an object")
          }
        }
      },
      Subject("json.tape.\(sample.name)") { _ in
        let text = sample.text()
        return { count in
          for _ in 0..<count where try JSONTape(scanning: text.span).entries.count < 3 {
            throw SubjectError(description: "the tape has not all values")
          }
        }
      },
    ]
  }

  private static let others: [Subject] = [
    Subject("json.parse") { _ in
      let text = Samples.large()
      return { for _ in 0..<$0 { _ = try JSONValue(parsing: text) } }
    },
    Subject("decode.generated") { _ in try decoding(GeneratedItemsQuery()) { $0.items.count } },
    Subject("decode.typed") { _ in try decoding(ItemsQuery()) { $0.items.count } },
    Subject("decode.foundation") { _ in
      struct Answer: Decodable {
        let data: ItemsQuery.Data
      }
      let text = Data(Samples.response(items: 9))
      return { count in
        for _ in 0..<count where try JSONDecoder().decode(Answer.self, from: text).data.items.count != 9 {
          throw SubjectError(description: "not all items came")
        }
      }
    },
    Subject("multipart") { _ in
      let body = Samples.parts()
      let boundary = try MultipartBoundary(Samples.boundary)
      return { count in
        for _ in 0..<count {
          var reader = MultipartReader(boundary: boundary, partEnd: .atBoundary)
          var (parts, place) = (0, 0)
          while place < body.count {
            let end = min(place + 16 << 10, body.count)
            reader.append(body[place..<end])
            while try reader.next() != nil { parts += 1 }
            place = end
          }
          guard parts == 16 else { throw SubjectError(description: "\(parts) parts of 16 were found") }
        }
      }
    },
    Subject("document.parse") { _ in
      let text = Samples.longDocument
      return { count in
        for _ in 0..<count where try GraphQLDocument(parsing: text).definitions.isEmpty {
          throw SubjectError(description: "the document is empty")
        }
      }
    },
    Subject("route") { _ in
      let manifest = try Manifest(text: Samples.rules(1000))
      return { count in
        for number in 0..<count {
          let plan = manifest.stagePlan(operationName: "Operation\(number % 1000)", type: .query)
          guard plan.active(.graphQL).count == 1 else { throw SubjectError(description: "the rule was not found") }
        }
      }
    },
  ]

  /// Reads the data of a response from its text.
  private static func decoding<Query: GraphQLQuery>(
    _ query: Query, _ items: @escaping @Sendable (Query.Data) -> Int
  ) throws -> Work {
    let body = try ResponseBody(Data(Samples.response(items: 9)))
    return { count in
      for _ in 0..<count where try GraphQLResponse<Query>(body: body).data.map(items) != 9 {
        throw SubjectError(description: "not all items came")
      }
    }
  }
}
