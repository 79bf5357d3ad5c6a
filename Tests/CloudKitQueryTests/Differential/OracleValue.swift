import CloudKit
import CoreLocation
import Foundation

/// A value as the reference describes it, independent of the product's code.
enum OracleValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case fraction(Double)
    /// Milliseconds since 1970, with fractions.
    case moment(Double)
    case bytes([UInt8])
    case place(Double, Double)
    case link(zone: String, name: String)
    case list([OracleValue])

    /// The value in the form that an app uses.
    var native: any Sendable {
        switch self {
        case .text(let text): return text
        case .integer(let integer): return integer
        case .fraction(let fraction): return fraction
        case .moment(let milliseconds): return Date(timeIntervalSince1970: milliseconds / 1000)
        case .bytes(let bytes): return Data(bytes)
        case .place(let latitude, let longitude):
            // A time that always differs: locations are compared without it.
            return CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
                altitude: 0,
                horizontalAccuracy: 1,
                verticalAccuracy: 1,
                timestamp: Date(timeIntervalSince1970: Double.random(in: 0..<1e9))
            )
        case .link(let zone, let name):
            return CKRecord.Reference(recordID: Self.identity(zone, name), action: .none)
        case .list(let values): return values.map(\.native)
        }
    }

    static func identity(_ zone: String, _ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone))
    }

    /// The value as the service stores it: in whole milliseconds, cut and not rounded.
    ///
    /// A value that is short of a millisecond by less than half a microsecond, an arithmetic error,
    /// is not cut.
    var kept: OracleValue {
        guard case .moment(let milliseconds) = self else { return self }
        return .moment((milliseconds + 0.0004).rounded(.down))
    }

    /// Returns -1, 0 or 1 for the order of two values of one kind; nil where they have no order.
    func order(_ other: OracleValue) -> Int? {
        func sign(_ isBefore: Bool, _ isSame: Bool) -> Int { isSame ? 0 : isBefore ? -1 : 1 }
        switch (kept, other.kept) {
        case (.text(let a), .text(let b)): return Self.order(Array(a.utf8), Array(b.utf8))
        case (.bytes(let a), .bytes(let b)): return Self.order(a, b)
        case (.integer(let a), .integer(let b)): return sign(a < b, a == b)
        case (.fraction(let a), .fraction(let b)): return sign(a < b, a == b)
        case (.moment(let a), .moment(let b)): return sign(a < b, a == b)
        case (.integer(let a), .fraction(let b)):
            guard let whole = Int64(exactly: b) else { return nil }
            return sign(a < whole, a == whole)
        case (.fraction(let a), .integer(let b)): return sign(a < Double(b), a == Double(b))
        default: return nil
        }
    }

    private static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
        for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
        return a.count == b.count ? 0 : a.count < b.count ? -1 : 1
    }

    /// Returns whether two values are the same; a text represents the record of that name in a zone.
    func isSame(_ other: OracleValue, in zone: String) -> Bool {
        switch (self, other) {
        case (.place(let a, let b), .place(let c, let d)): return a == c && b == d
        case (.link(let a, let b), .link(let c, let d)): return a == c && b == d
        case (.link(let home, let name), .text(let text)): return home == zone && name == text
        default: return order(other) == 0
        }
    }

    /// Returns the metres between two places, by the law of cosines and not by the haversine.
    func metres(to other: OracleValue) -> Double? {
        guard case .place(let a, let b) = self, case .place(let c, let d) = other else {
            return nil
        }
        if a == c, b == d { return 0 }
        let (a1, c1, difference) = (a * .pi / 180, c * .pi / 180, (d - b) * .pi / 180)
        let cosine = sin(a1) * sin(c1) + cos(a1) * cos(c1) * cos(difference)
        return 6_371_008.8 * acos(max(-1, min(1, cosine)))
    }

    /// The words of a text, or of the texts of a list.
    var words: Set<String> {
        switch self {
        case .text(let text): Self.words(text)
        case .list(let values): values.reduce(into: []) { $0.formUnion($1.words) }
        default: []
        }
    }

    private static let stopWords = Set(
        """
        a an and are as at be but by for if in into is it no not of on or such that the their then \
        there these they this to was will with
        """.split(separator: " ").map(String.init)
    )

    private static func words(_ text: String) -> Set<String> {
        var words: [String] = [""]
        for character in text {
            if character == "🎉" || character == "🎂" {
                words += [String(character), ""]
            } else if character.isLetter || character.isNumber {
                words[words.count - 1].append(character)
            } else {
                words.append("")
            }
        }
        // In their written form: thé is not a stop word, although it is searched for as "the".
        let counting = words.filter { !$0.isEmpty && !stopWords.contains($0.lowercased()) }
        return Set(
            counting.map {
                $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            }
        )
    }
}

/// A record in the oracle's form.
struct OracleRecord: Hashable, Sendable {
    var zone: String
    var name: String
    var fields: [String: OracleValue]

    var identity: OracleValue { .link(zone: zone, name: name) }
}
