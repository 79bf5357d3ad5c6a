// swift-tools-version: 6.3
import PackageDescription

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let cloudKit: Target.Dependency = .product(name: "CloudKit", package: "swift-cloudkit")
let store: Target.Dependency = .product(name: "CloudKitStore", package: "swift-cloudkit")

let package = Package(
    name: "Notes",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-cloudkit", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The app: notes in a SQLite file, kept in step by CloudKitStore.
        .target(name: "Notebook", dependencies: [cloudKit, store, grdb]),
        // The terminal around it.
        .executableTarget(name: "notes", dependencies: ["Notebook", cloudKit, store]),
        .testTarget(
            name: "NotebookTests",
            dependencies: [
                "Notebook", "notes", cloudKit, store,
                .product(name: "CloudKitServer", package: "swift-cloudkit"),
                .product(name: "CloudKitTesting", package: "swift-cloudkit"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
