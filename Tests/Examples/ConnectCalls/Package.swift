// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "connect-calls",
  dependencies: [
    .package(name: "carabiner", path: "../../.."),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.28.0"),
  ],
  targets: [
    .executableTarget(
      name: "ConnectCalls",
      dependencies: [
        .product(name: "CarabinerConnect", package: "carabiner"),
        .product(name: "CarabinerCurl", package: "carabiner"),
        .product(name: "CarabinerHost", package: "carabiner"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
