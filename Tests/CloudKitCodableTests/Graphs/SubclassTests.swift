import CloudKit
import CloudKitCodable
import Testing

@Suite("Instances of subclasses in graphs")
struct SubclassTests {
    /// A class whose subclasses have records of their own types.
    class Ship: CloudKitModel {
        let name: String
        var recordName: String { "ship-" + name }
        init(name: String) { self.name = name }
    }

    final class Ferry: Ship {}

    /// A class whose subclasses share its record type.
    class Boat: CloudKitModel, Hashable {
        let name: String
        var recordName: String { "boat-" + name }
        static var recordType: String { "Boat" }
        init(name: String) { self.name = name }
        static func == (left: Boat, right: Boat) -> Bool { left.name == right.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// A subclass that adds nothing.
    final class Dinghy: Boat {}

    /// A subclass that adds a property.
    final class Yacht: Boat {
        let sails: Int

        init(name: String, sails: Int) {
            self.sails = sails
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            sails = try container.decode(Int.self, forKey: .sails)
            try super.init(from: decoder)
        }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(sails, forKey: .sails)
        }

        private enum Keys: String, CodingKey { case sails }
    }

    struct Port<Vessel: CloudKitModel>: CloudKitModel {
        var flagship: Vessel?
        var next: Vessel?
        var docked: [Vessel] = []
        var known: [Vessel] = []
        var recordName: String { "port" }
        static var recordType: String { "Port" }

        static var fields: CloudKitFields {
            [
                CodingKeys.docked: .children(via: "port"),
                CodingKeys.next: .children(via: "nextOf"),
            ]
        }
    }

    private let encoder = CloudKitGraphEncoder(zoneID: .default)

    private func readAgain<Model: CloudKitModel>(_ model: Model) throws -> Model {
        let encoded = try encoder.encode(model)
        return try CloudKitGraphDecoder().decode(
            Model.self,
            from: encoded.records,
            root: encoded.rootID
        )
    }

    private func expectRefusal(_ model: some CloudKitModel, _ subclass: String, at path: String) {
        let error = #expect(throws: CloudKitGraphError.self) { try encoder.encode(model) }
        #expect(error?.code == .unexpectedType)
        #expect(error?.message.contains("is a \(subclass), and would come back as") == true)
        #expect(error.map { "\($0)".contains("at \(path) (") } == true, "\(error as Any)")
    }

    @Test("One with a record type of its own is refused wherever the superclass is read")
    func ownRecordType() {
        let ferry = Ferry(name: "f")
        expectRefusal(Port<Ship>(flagship: ferry), "Ferry", at: "flagship")
        expectRefusal(Port<Ship>(next: ferry), "Ferry", at: "next")
        expectRefusal(Port<Ship>(docked: [Ship(name: "s"), ferry]), "Ferry", at: "docked[1]")
        expectRefusal(Port<Ship>(known: [ferry]), "Ferry", at: "known[0]")
        expectRefusal(ferry as Ship, "Ferry", at: "the root")
    }

    @Test("One that adds properties is refused with the superclass's record type too")
    func addedProperties() {
        let yacht = Yacht(name: "y", sails: 3)
        expectRefusal(Port<Boat>(flagship: yacht), "Yacht", at: "flagship")
        expectRefusal(Port<Boat>(next: yacht), "Yacht", at: "next")
        expectRefusal(Port<Boat>(docked: [yacht]), "Yacht", at: "docked[0]")
        expectRefusal(Port<Boat>(known: [Boat(name: "b"), yacht]), "Yacht", at: "known[1]")
        expectRefusal(yacht as Boat, "Yacht", at: "the root")
    }

    @Test("An object in a variable of its superclass becomes the record that it names itself")
    func variableOfSuperclass() throws {
        let ship: Ship = Ferry(name: "f")
        let record = try CloudKitRecordEncoder(zoneID: .default).encode(ship)
        #expect(record.recordType == "Ferry")
        #expect(record.recordID.recordName == "ship-f")
    }

    @Test("One that adds nothing to the superclass's records is read as the superclass")
    func nothingAdded() throws {
        let dinghy = Dinghy(name: "d")
        let read = try readAgain(
            Port<Boat>(flagship: dinghy, docked: [dinghy], known: [Boat(name: "b")])
        )
        #expect(read.flagship?.name == "d" && read.docked.map(\.name) == ["d"])
        #expect(read.known.map(\.name) == ["b"])
        #expect(try readAgain(dinghy as Boat).name == "d")
    }

    @Test("One in a place of its own type is read as that")
    func ownPlace() throws {
        let ferries = try readAgain(
            Port(flagship: Ferry(name: "f"), docked: [Ferry(name: "g")])
        )
        #expect(ferries.flagship?.name == "f" && ferries.docked.map(\.name) == ["g"])
        let yachts = try readAgain(Port(next: Yacht(name: "y", sails: 2)))
        #expect(yachts.next?.sails == 2)
        #expect(try readAgain(Yacht(name: "z", sails: 1)).sails == 1)
    }

    /// A property of the class's own type, and one of its superclass.
    struct Crew: CloudKitModel {
        var owned: Ferry
        var sailed: Ship
        var recordName: String { "crew" }
    }

    @Test("One that stands in a place of its own type too is refused where its superclass is read")
    func bothPlaces() throws {
        let ferry = Ferry(name: "f")
        expectRefusal(Crew(owned: ferry, sailed: ferry), "Ferry", at: "sailed")
        let crew = try readAgain(Crew(owned: ferry, sailed: Ship(name: "s")))
        #expect(crew.owned.name == "f" && crew.sailed.name == "s")
    }

    /// A model with optionals and sets that a hand-written encoding writes as a whole.
    struct Marina: CloudKitModel {
        var guest: Boat?
        var moored: Set<Boat> = []
        var recordName: String { "marina" }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(guest, forKey: .guest)
            try container.encode(moored, forKey: .moored)
        }
    }

    @Test("Optionals and sets that are written whole hide no subclass")
    func wholeValues() throws {
        let yacht = Yacht(name: "y", sails: 3)
        expectRefusal(Marina(guest: yacht), "Yacht", at: "guest")
        expectRefusal(Marina(moored: [yacht]), "Yacht", at: "moored[0]")
        let read = try readAgain(Marina(guest: Dinghy(name: "d"), moored: [Boat(name: "b")]))
        #expect(read.guest?.name == "d" && read.moored.map(\.name) == ["b"])
    }

    @Test("References that are only held say nothing of classes")
    func references() throws {
        struct Logbook: CloudKitModel {
            var ship: CloudKitReference<Ship>
            var recordName: String { "log" }
        }
        let read = try readAgain(Logbook(ship: CloudKitReference(to: Ferry(name: "f"))))
        #expect(read.ship.recordName == "ship-f")
    }

    /// An enumeration of both classes, which the error proposes.
    enum Vessel: CloudKitModel {
        case boat(Boat), yacht(Yacht)

        var recordName: String {
            switch self {
            case .boat(let boat), .yacht(let boat as Boat): boat.recordName
            }
        }

        private enum Keys: String, CodingKey { case kind }

        init(from decoder: any Decoder) throws {
            let kind = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .kind)
            self =
                kind == "yacht"
                ? .yacht(try Yacht(from: decoder)) : .boat(try Boat(from: decoder))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            switch self {
            case .boat(let boat):
                try container.encode("boat", forKey: .kind)
                try boat.encode(to: encoder)
            case .yacht(let yacht):
                try container.encode("yacht", forKey: .kind)
                try yacht.encode(to: encoder)
            }
        }
    }

    @Test("An enumeration of a class and its subclass comes back with each as it was")
    func enumeration() throws {
        let yacht = Yacht(name: "y", sails: 3)
        let read = try readAgain(
            Port<Vessel>(flagship: .yacht(yacht), docked: [.boat(Boat(name: "b")), .yacht(yacht)])
        )
        let docked = read.docked.map { vessel in
            switch vessel {
            case .boat(let boat): boat.name
            case .yacht(let yacht): "\(yacht.name) \(yacht.sails)"
            }
        }
        #expect(docked == ["b", "y 3"])
    }

    @Test("The encoder of one record makes a record of the value's own class")
    func oneRecord() throws {
        let record = try CloudKitRecordEncoder().encode(Ferry(name: "f") as Ship)
        #expect(record.recordType == "Ferry")
        let yacht = try CloudKitRecordEncoder().encode(Yacht(name: "y", sails: 3) as Boat)
        #expect(yacht["sails"] == 3)
    }
}
