#if Macros
import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation
import Support

/// Random values of the types that records hold.
extension SeededRandom {
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
        Number(truncatingIfNeeded: next())
    }

    mutating func flag() -> Bool { next() & 1 == 0 }

    mutating func double() -> Double { .random(in: -1e6...1e6, using: &self) }

    /// Returns one of a few values, so that two things often share one.
    mutating func text() -> String {
        ["", "Milk", "Bread", "Käse", "a b c", "null", "7"].randomElement(using: &self) ?? ""
    }

    /// Returns a date in whole seconds, which a service stores exactly.
    mutating func date() -> Date { Date(timeIntervalSinceReferenceDate: double().rounded()) }

    mutating func data() -> Data {
        Data((0..<Int.random(in: 0...40, using: &self)).map { _ in number() })
    }

    mutating func uuid() -> UUID {
        let bytes = (number(UInt64.self), number(UInt64.self))
        return withUnsafeBytes(of: bytes) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }

    mutating func color() -> Color { Color.allCases.randomElement(using: &self) ?? .red }

    mutating func figure() -> Figure { Figure(name: text(), sides: list { $0.number() }) }

    mutating func friend() -> Friend {
        // One name for one identity: a graph refuses two values for one record.
        let name = ["ada", "grace", "edsger"].randomElement(using: &self) ?? "ada"
        return Friend(id: name, name: name.capitalized)
    }

    mutating func place() -> CLLocation {
        CLLocation(
            latitude: .random(in: -90...90, using: &self),
            longitude: .random(in: -180...180, using: &self)
        )
    }

    mutating func reference() -> CKRecord.Reference {
        CKRecord.Reference(
            recordID: CKRecord.ID(recordName: friend().id, zoneID: Thing.zoneID),
            action: flag() ? .none : .deleteSelf
        )
    }

    mutating func list<Element>(_ make: (inout SeededRandom) -> Element) -> [Element] {
        (0..<Int.random(in: 0...3, using: &self)).map { _ in make(&self) }
    }

    mutating func perhaps<Value>(_ make: (inout SeededRandom) -> Value) -> Value? {
        flag() ? make(&self) : nil
    }
}

extension Thing {
    /// Creates a value that differs from another of the same identity in some properties only.
    init(_ random: inout SeededRandom, id: UUID, file: CKAsset?) {
        self.init(
            id: id,
            text: random.text(),
            optionalText: random.perhaps { $0.text() },
            flag: random.flag(),
            optionalFlag: random.perhaps { $0.flag() },
            int: random.number(),
            optionalInt: random.perhaps { $0.number() },
            int8: random.number(),
            int16: random.number(),
            int32: random.number(),
            int64: random.number(),
            uint: random.number() >> 1,
            uint8: random.number(),
            uint16: random.number(),
            uint32: random.number(),
            uint64: random.perhaps { $0.number() >> 1 },
            width: random.double(),
            height: random.double(),
            float: Float(random.double()),
            optionalFloat: random.perhaps { Float($0.double()) },
            date: random.date(),
            optionalDate: random.perhaps { $0.date() },
            data: random.data(),
            optionalData: random.perhaps { $0.data() },
            uuid: random.uuid(),
            optionalUUID: random.perhaps { $0.uuid() },
            url: URL(string: "https://example.com/\(random.number(UInt8.self))")!,
            decimal: Decimal(random.number(Int32.self)) / 100,
            color: random.color(),
            optionalColor: random.perhaps { $0.color() },
            level: random.flag() ? .low : .high,
            texts: random.list { $0.text() },
            optionalTexts: random.perhaps { $0.list { $0.text() } },
            ints: random.list { $0.number() },
            smallInts: random.list { $0.number() },
            dates: random.list { $0.date() },
            uuids: random.list { $0.uuid() },
            colors: random.list { $0.color() },
            words: Set(random.list { $0.text() }),
            place: random.perhaps { $0.place() },
            places: random.list { $0.place() },
            owner: random.perhaps { $0.reference() },
            file: random.flag() ? file : nil,
            shape: random.figure(),
            optionalShape: random.perhaps { $0.figure() },
            shapes: random.list { $0.figure() },
            table: Dictionary(random.list { ($0.text(), $0.number()) }) { $1 },
            friend: random.perhaps { CloudKitReference(to: $0.friend()) },
            friends: random.list { CloudKitReference(to: $0.friend()) },
            best: random.perhaps { $0.friend() },
            team: random.list { $0.friend() },
            renamed: random.text(),
            alsoRenamed: random.perhaps { $0.number() },
            secret: random.perhaps { $0.text() },
            secretNumber: random.number(),
            scan: random.data(),
            letter: random.perhaps { $0.data() },
            loose: random.text(),
            isSelected: false,
            count: random.number(),
            default: random.text()
        )
    }
}
#endif
