import Support

/// Generates random records, conditions and changes.
struct CaseGenerator {
    var chance: SeededRandom

    static let zones = ["_defaultZone", "A", "B"]
    static let fields = ["s", "t", "n", "x", "d", "b", "p", "r", "ls", "ln", "lr"]

    init(seed: UInt64) { chance = SeededRandom(seed: seed) }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &chance)]
    }

    private static let long = String(repeating: "z", count: 600)
    static let texts = [
        "", "a", "A", "ab", "abc", "b", "é", "e\u{301}", "É", "10", "2", "the", "the cat",
        "Éclair, the cat", "cafe\u{301} au lait", "Café AU lait", "🎉", "🎉party 🎂", "straße",
        "Thé vert",
        "\u{E0} la carte", "The\u{301}", "a la",
        "STRASSE", "日本 東京", "it's a test", "\u{FFFD}", "same", "u", String(long.prefix(512)),
        long, long + "a", long + "b", String(long.prefix(511)) + "y",
    ]
    static let names = ["same", "u", "v", "r1"]
    static let searches = [
        "cat", "CAFE lait", "éclair", "the", "the cat", "🎉", "party 🎂", "strasse", "日本", "test s",
        "nothing here", "10", "CAFÉ", "e\u{301}clair", "and",
        "th\u{E9}", "the\u{301} vert", "\u{C0} la", "a la",
    ]

    private static let integers: [Int64] = [
        Int64.min, -9_223_372_036_854_775_807, -5, -1, 0, 1, 2, 5, 9_007_199_254_740_992,
        9_007_199_254_740_993, Int64.max,
    ]
    private static let fractions: [Double] = [
        -1e300, -1.5, -0.0, 0, 0.5, 2, 5, 9_007_199_254_740_992, 1e300,
    ]
    private static let moments: [Double] = [
        0, 1, 999.6, 1000.4, 86_400_000, 1_700_000_000_123, -1000.6,
        // Results of other arithmetic; the last is finer than a millisecond.
        1_700_000_000_122.9998, 1_700_000_000_123.0002, 1_700_000_000_122.99,
    ]
    private static let sevens = [UInt8](repeating: 7, count: 600)
    private static let data: [[UInt8]] = [
        [], [0], [0, 1], [1], [255], [1, 255], sevens, sevens + [1],
    ]
    private static let places: [OracleValue] = [
        .place(0, 0), .place(-0.0, 0), .place(0, 180), .place(0, -180), .place(48.2, 16.37),
        .place(48.21, 16.38), .place(-33.9, 151.2), .place(90, 0), .place(-90, 10),
    ]

    /// Returns a value of the kind that a field holds.
    mutating func value(of field: String) -> OracleValue {
        switch field {
        case "s", "t", "ls": .text(pick(Self.texts))
        case "n", "ln": .integer(pick(Self.integers))
        case "x": .fraction(pick(Self.fractions))
        case "d": .moment(pick(Self.moments))
        case "b": .bytes(pick(Self.data))
        case "p": pick(Self.places)
        default: .link(zone: pick(Self.zones), name: pick(Self.names))
        }
    }

    mutating func fields() -> [String: OracleValue] {
        var fields: [String: OracleValue] = [:]
        for field in Self.fields where chance.chance(75) {
            guard field.hasPrefix("l") else {
                fields[field] = value(of: field)
                continue
            }
            let count = Int.random(in: 1...3, using: &chance)
            fields[field] = .list((0..<count).map { _ in value(of: field) })
        }
        return fields
    }

    /// Returns the records of a world: some names exist in every zone.
    mutating func records() -> [OracleRecord] {
        var records: [OracleRecord] = []
        for zone in Self.zones {
            for name in ["same", "u", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"] {
                records.append(OracleRecord(zone: zone, name: name, fields: fields()))
            }
        }
        return records
    }

    // MARK: Conditions

    mutating func condition() -> OracleCondition {
        let count = pick([1, 1, 1, 2, 2, 3])
        return count == 1 ? part() : .all((0..<count).map { _ in part() })
    }

    private mutating func part() -> OracleCondition {
        let atom = atom()
        guard chance.chance(30), Self.canBeNegated(atom) else { return atom }
        return .not(atom)
    }

    private static func canBeNegated(_ condition: OracleCondition) -> Bool {
        switch condition {
        case .between, .near, .words, .all: false
        default: true
        }
    }

    private mutating func atom() -> OracleCondition {
        let flag = chance.chance(50)
        switch Int.random(in: 0..<20, using: &chance) {
        case 0: return pick([.everything, .nothing])
        case 1...5:
            let field = pick(["s", "t", "n", "x", "d", "b"])
            let order = pick(OracleCondition.Order.allCases)
            return .compare(field, order, operand(of: field), isMirrored: flag)
        case 6:
            let field = pick(["p", "r", "r"])
            let value =
                field == "r" && chance.chance(20)
                ? OracleValue.text(pick(Self.names)) : value(of: field)
            return .compare(field, pick([.equals, .differs]), value, isMirrored: flag)
        case 7:
            let field = pick(["s", "n", "x", "d", "b"])
            return .between(field, value(of: field), value(of: field))
        case 8, 9:
            let field = pick(["s", "n", "x", "d", "b", "p", "r"])
            let count = pick([0, 1, 2, 3])
            return .isIn(field, (0..<count).map { _ in value(of: field) })
        case 10: return .begins(pick(["s", "t"]), pick(["", "a", "e", "é", "ca", "z", "É"]))
        case 11, 12:
            let field = pick(["ls", "ln", "lr"])
            return .has(field, value(of: field), form: Int.random(in: 0..<4, using: &chance))
        case 13:
            let field = pick(["ls", "ln", "lr"])
            let count = pick([0, 1, 2])
            return .hasAny(field, (0..<count).map { _ in value(of: field) })
        case 14: return .anyBegins("ls", pick(["", "a", "caf", "z", "é"]))
        case 15:
            let value: OracleValue =
                chance.chance(30) ? .text(pick(Self.names)) : value(of: "r")
            return .record(pick([.equals, .differs]), value, isMirrored: flag)
        case 16: return .records((0..<pick([0, 1, 3])).map { _ in value(of: "r") })
        case 17:
            return .madeBy(pick([.equals, .differs]), isMe: chance.chance(70), byName: flag)
        case 18:
            return .near(
                "p",
                value(of: "p"),
                pick([-1, 0, 100, 5000, 1_000_000, 19_000_000, 30_000_000]),
                isStrict: flag
            )
        default: return .words(pick(Self.searches), all: flag)
        }
    }

    /// Returns a value to compare a field with; sometimes of the other kind of number, where that is
    /// unambiguous.
    mutating func operand(of field: String) -> OracleValue {
        guard chance.chance(20) else { return value(of: field) }
        switch field {
        case "n": return .fraction(pick([-5, 0, 2, 5, 9_007_199_254_740_992]))
        case "x": return .integer(pick([0, 2, 5, (1 << 53) + 1]))
        default: return value(of: field)
        }
    }
}
