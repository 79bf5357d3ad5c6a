import CloudKit
import CloudKitCodable
import Foundation

// Models whose hand-written `encode(to:)` leaves keys out.

/// A way to travel, whose contents depend on the case.
enum Travel: CloudKitModel, Equatable, Sendable {
    case train(number: Int, seat: String?)
    case car(plate: String)

    // One type of keys for each case: no encoding sees all of them.
    private enum Kind: String, CodingKey { case kind }
    private enum TrainKeys: String, CodingKey { case number, seat }
    private enum CarKeys: String, CodingKey { case plate }

    var recordName: String { "travel" }

    init(from decoder: any Decoder) throws {
        let kind = try decoder.container(keyedBy: Kind.self).decode(String.self, forKey: .kind)
        if kind == "train" {
            let container = try decoder.container(keyedBy: TrainKeys.self)
            self = .train(
                number: try container.decode(Int.self, forKey: .number),
                seat: try container.decodeIfPresent(String.self, forKey: .seat)
            )
        } else {
            let container = try decoder.container(keyedBy: CarKeys.self)
            self = .car(plate: try container.decode(String.self, forKey: .plate))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var kind = encoder.container(keyedBy: Kind.self)
        switch self {
        case .train(let number, let seat):
            try kind.encode("train", forKey: .kind)
            var container = encoder.container(keyedBy: TrainKeys.self)
            try container.encode(number, forKey: .number)
            if let seat { try container.encode(seat, forKey: .seat) }
        case .car(let plate):
            try kind.encode("car", forKey: .kind)
            var container = encoder.container(keyedBy: CarKeys.self)
            try container.encode(plate, forKey: .plate)
        }
    }
}

/// A choice with the keys that the compiler generates: one field for each case.
enum Choice: CloudKitModel, Equatable, Sendable {
    case number(Int)
    case text(String)

    var recordName: String { "choice" }
}

/// A suitcase, whose empty properties are not written.
struct Suitcase: CloudKitModel, Equatable, Sendable {
    var tags: [String] = []
    var owner: String?
    var secret: String?
    var scan: Data?
    var label: LoadingTests.Label?
    var things: [LoadingTests.Label] = []
    var recordName: String { "suitcase" }

    enum CodingKeys: String, CodingKey { case tags, owner = "o", secret, scan, label, things }

    static var fields: CloudKitFields {
        [
            CodingKeys.owner: .named("who"),
            CodingKeys.secret: .encrypted,
            CodingKeys.scan: .asset(above: 4),
            CodingKeys.things: .children(via: "suitcase", isHierarchy: true),
        ]
    }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tags = try container.decodeIfPresent([String].self, forKey: .tags) ?? []
        owner = try container.decodeIfPresent(String.self, forKey: .owner)
        secret = try container.decodeIfPresent(String.self, forKey: .secret)
        scan = try container.decodeIfPresent(Data.self, forKey: .scan)
        label = try container.decodeIfPresent(LoadingTests.Label.self, forKey: .label)
        things = try container.decodeIfPresent([LoadingTests.Label].self, forKey: .things) ?? []
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if !tags.isEmpty { try container.encode(tags, forKey: .tags) }
        if let owner { try container.encode(owner, forKey: .owner) }
        if let secret { try container.encode(secret, forKey: .secret) }
        if let scan { try container.encode(scan, forKey: .scan) }
        if let label { try container.encode(label, forKey: .label) }
        if !things.isEmpty { try container.encode(things, forKey: .things) }
    }

    static var full: Suitcase {
        var suitcase = Suitcase()
        suitcase.tags = ["fragile"]
        suitcase.owner = "Ada"
        suitcase.secret = "1234"
        suitcase.scan = Data([1, 2, 3, 4, 5, 6])
        suitcase.label = .init(name: "hotel")
        suitcase.things = [.init(name: "shirt"), .init(name: "book")]
        return suitcase
    }
}

/// A bag with fields of any name.
struct Bag: CloudKitModel, Equatable, Sendable {
    var values: [String: Int]
    var recordName: String { "bag" }

    struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    init(_ values: [String: Int]) { self.values = values }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        values = [:]
        // Those of other versions of the app start differently.
        for key in container.allKeys where key.stringValue.hasPrefix("n") {
            values[key.stringValue] = try container.decode(Int.self, forKey: key)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, value) in values { try container.encode(value, forKey: Key(name)) }
    }
}

/// A value that carries its system fields, and lists its keys.
struct Ticket: CustomCloudKitCodable, Equatable, Sendable {
    var cloudKitSystemFields: Data?
    var cloudKitIdentifier = "ticket"
    var seat: String?
    var note: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case cloudKitSystemFields, cloudKitIdentifier, seat, note
    }

    init(seat: String?, note: String?) {
        self.seat = seat
        self.note = note
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(cloudKitSystemFields, forKey: .cloudKitSystemFields)
        if let seat { try container.encode(seat, forKey: .seat) }
        if let note { try container.encode(note, forKey: .note) }
    }
}
