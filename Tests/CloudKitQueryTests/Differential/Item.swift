import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation

/// A model of a world's records, for queries by key paths; it never has values.
struct Item: CloudKitMappedModel {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case s, t, n, x, d, p, r, ls, ln, lr
    }

    var s: String?
    var t: String?
    var n: Int64?
    var x: Double?
    var d: Date?
    var p: CLLocation?
    var r: CKRecord.Reference?
    var ls: [String]?
    var ln: [Int64]?
    var lr: [CKRecord.Reference]?
    var recordName = ""

    init() {}
    init(from decoder: any Decoder) throws { self.init() }
    func encode(to encoder: any Encoder) throws {}
    init(fields: inout CloudKitFieldReader) throws { self.init() }
    func writeFields(to fields: inout CloudKitFieldWriter) throws {}

    static func codingKey(of property: AnyKeyPath) -> (any CodingKey)? {
        let keys: [AnyKeyPath: CodingKeys] = [
            \Self.s: .s, \Self.t: .t, \Self.n: .n, \Self.x: .x, \Self.d: .d, \Self.p: .p,
            \Self.r: .r, \Self.ls: .ls, \Self.ln: .ln, \Self.lr: .lr,
        ]
        return keys[property]
    }
}

extension CloudKitPredicate<Item> {
    /// Creates a condition by key paths; nil for conditions that these do not support.
    init?(_ condition: OracleCondition) {
        switch condition {
        case .everything: self = .everything
        case .nothing: self = .nothing
        case .compare(let field, let order, let value, false):
            guard let made = Self.compare(field, order, value) else { return nil }
            self = made
        case .between("n", .integer(let low), .integer(let high)) where low <= high:
            self = .field(\.n, isIn: low...high)
        case .isIn("s", let values):
            self = .field(\.s, isIn: values.compactMap(\.text))
        case .isIn("r", let values):
            self = .field(\.r, isIn: values.compactMap(\.recordID))
        case .begins("s", let prefix): self = .field(\.s, beginsWith: prefix)
        case .begins("t", let prefix): self = .field(\.t, beginsWith: prefix)
        case .has("ls", .text(let text), _): self = .field(\.ls, contains: text)
        case .has("ln", .integer(let integer), _): self = .field(\.ln, contains: integer)
        case .has("lr", let value, _):
            guard let recordID = value.recordID else { return nil }
            self = .field(\.lr, contains: recordID)
        case .hasAny("ls", let values):
            self = .field(\.ls, containsAnyOf: values.compactMap(\.text))
        case .anyBegins("ls", let prefix): self = .field(\.ls, anyBeginsWith: prefix)
        case .record(let order, let value, _):
            guard let recordID = value.recordID else { return nil }
            let key = CloudKitFieldKey<Item, CKRecord.ID>.recordID
            self = order == .equals ? key == recordID : key != recordID
        case .near("p", .place(let latitude, let longitude), let metres, true):
            let centre = CLLocation(latitude: latitude, longitude: longitude)
            self = .field(\.p, isWithin: metres, of: centre)
        case .words(let text, let all): self = all ? .allWords(of: text) : .anyWord(of: text)
        case .not(let part):
            guard let part = Self(part) else { return nil }
            self = !part
        case .all(let parts):
            let made = parts.compactMap { Self($0) }
            guard made.count == parts.count, let first = made.first else { return nil }
            self = made.dropFirst().reduce(first) { $0 && $1 }
        default: return nil
        }
    }

    private static func compare(
        _ field: String,
        _ order: OracleCondition.Order,
        _ value: OracleValue
    ) -> Self? {
        switch (field, value) {
        case ("s", .text(let text)): ordered(\.s, order, text)
        case ("t", .text(let text)): ordered(\.t, order, text)
        case ("n", .integer(let integer)): ordered(\.n, order, integer)
        case ("x", .fraction(let fraction)): ordered(\.x, order, fraction)
        case ("d", .moment(let milliseconds)):
            ordered(\.d, order, Date(timeIntervalSince1970: milliseconds / 1000))
        case ("r", .link(let zone, let name)):
            link(order, OracleValue.identity(zone, name))
        default: nil
        }
    }

    private static func link(_ order: OracleCondition.Order, _ recordID: CKRecord.ID) -> Self {
        order == .equals ? \Item.r == recordID : \Item.r != recordID
    }

    private static func ordered<Value: CloudKitOrderedField>(
        _ path: KeyPath<Item, Value>,
        _ order: OracleCondition.Order,
        _ value: Value.Comparand
    ) -> Self {
        switch order {
        case .equals: path == value
        case .differs: path != value
        case .below: path < value
        case .notAbove: path <= value
        case .above: path > value
        case .notBelow: path >= value
        }
    }
}

extension OracleValue {
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }

    fileprivate var recordID: CKRecord.ID? {
        if case .link(let zone, let name) = self { Self.identity(zone, name) } else { nil }
    }
}
