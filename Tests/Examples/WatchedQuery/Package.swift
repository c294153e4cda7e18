// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "watched-query",
  dependencies: [.package(name: "carabiner", path: "../../..")],
  targets: [
    .executableTarget(
      name: "WatchedQuery",
      dependencies: [
        .product(name: "Carabiner", package: "carabiner"),
        .product(name: "CarabinerCurl", package: "carabiner"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
