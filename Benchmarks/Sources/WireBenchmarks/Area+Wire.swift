public import BenchmarkHarness
import CloudKitWire
import Foundation

extension Area {
    /// Decodes and encodes the response to a modify of 200 records.
    ///
    /// The floor is JSONEncoder and JSONDecoder on structs whose every field the compiler knows: the
    /// minimum for any Codable client, which could read no other record type.
    public static let wire = Area(name: "wire") {
        let response = Sample.response(records: 200)
        let bytes = try WireJSON.encode(response)
        let plain = try JSONDecoder().decode(PlainResponse.self, from: bytes)
        // The work must be the same on both sides, or the ratio is meaningless.
        guard
            try WireJSON.decode(RecordsResponse.self, from: bytes) == response,
            try JSONDecoder().decode(PlainResponse.self, from: JSONEncoder().encode(plain)) == plain
        else { throw Unequal() }
        return [
            .time(
                "encode-200",
                .atMost(1.75),
                subject: Work("CloudKitWire") { keep(try WireJSON.encode(response)) },
                floor: Work("JSONEncoder") { keep(try JSONEncoder().encode(plain)) }
            ),
            .time(
                "decode-200",
                .atMost(1.75),
                subject: Work("CloudKitWire") {
                    keep(try WireJSON.decode(RecordsResponse.self, from: bytes))
                },
                floor: Work("JSONDecoder") {
                    keep(try JSONDecoder().decode(PlainResponse.self, from: bytes))
                }
            ),
        ]
    }

    /// An error that indicates that output and input differ.
    private struct Unequal: Error {}
}
