import CloudKitCodable

/// A model that refers to many others.
struct Parent: CloudKitModel, Equatable, Sendable {
    struct Child: CloudKitModel, Equatable, Sendable {
        var number: Int
        var name: String

        var recordName: String { "child-\(number)" }
    }

    var name = "parent"
    var children: [Child]

    var recordName: String { name }

    init(children count: Int) {
        children = (0..<count).map { Child(number: $0, name: "Child \($0)") }
    }
}
