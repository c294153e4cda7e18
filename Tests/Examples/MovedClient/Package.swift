// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "BookShelf",
  dependencies: [.package(name: "carabiner", path: "../../..")],
  targets: [
    .executableTarget(
      name: "BookShelf",
      dependencies: [
        .product(name: "Carabiner", package: "carabiner"),
        .product(name: "CarabinerCurl", package: "carabiner"),
      ])
  ]
)
