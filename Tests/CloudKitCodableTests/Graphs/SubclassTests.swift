import CloudKit
import CloudKitCodable
import Testing

@Suite("Instances of subclasses in graphs")
struct SubclassTests {
    class Ship: CloudKitModel {
        let name: String
        var recordName: String { "ship-" + name }
        init(name: String) { self.name = name }
    }

    final class Ferry: Ship {}

    class Boat: CloudKitModel {
        let name: String
        var recordName: String { "boat-" + name }
        static var recordType: String { "Boat" }
        init(name: String) { self.name = name }
    }

    final class Dinghy: Boat {}

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

    @Test("One with records of its own is refused where those of the superclass are read")
    func refused() {
        let ferry = Ferry(name: "f")
        let ports: [Port<Ship>] = [
            Port(flagship: ferry), Port(next: ferry), Port(docked: [Ship(name: "s"), ferry]),
            Port(known: [ferry]),
        ]
        for port in ports {
            let error = #expect(throws: CloudKitGraphError.self) { try encoder.encode(port) }
            #expect(error?.code == .unexpectedType && error?.recordID?.recordName == "ship-f")
            #expect(error?.message.contains("subclass Ferry") == true)
            #expect(error?.codingPath.isEmpty == false)
        }
        #expect(throws: CloudKitGraphError.self) { try encoder.encode(ferry as Ship) }
    }

    @Test("One that shares the superclass's records is read as the superclass")
    func shared() throws {
        let dinghy = Dinghy(name: "d")
        let port = Port<Boat>(flagship: dinghy, docked: [dinghy], known: [Boat(name: "b")])
        let encoded = try encoder.encode(port)
        let read = try CloudKitGraphDecoder().decode(
            Port<Boat>.self,
            from: encoded.records,
            root: encoded.rootID
        )
        #expect(read.flagship?.name == "d" && read.docked.map(\.name) == ["d"])
        #expect(read.known.map(\.name) == ["b"])
    }

    @Test("One in a place of its own type is read as that")
    func own() throws {
        let port = Port<Ferry>(flagship: Ferry(name: "f"), docked: [Ferry(name: "g")])
        let encoded = try encoder.encode(port)
        #expect(Set(encoded.records.map(\.recordType)) == ["Port", "Ferry"])
        let read = try CloudKitGraphDecoder().decode(
            Port<Ferry>.self,
            from: encoded.records,
            root: encoded.rootID
        )
        #expect(read.flagship?.name == "f" && read.docked.map(\.name) == ["g"])
    }
}
