public import BenchmarkHarness
import CloudKitWire
import Foundation

extension Area {
    /// The answer to a modify of 200 records, as bytes and as values.
    ///
    /// The floor is JSONEncoder and JSONDecoder on structs whose every field is known to the compiler:
    /// the least that any Codable client does, and one that could read no other record type.
    public static let wire = Area(name: "wire") {
        let response = Sample.response(records: 200)
        let bytes = try WireJSON.encode(response)
        let plain = try JSONDecoder().decode(PlainResponse.self, from: bytes)
        // The same work on both sides, or the ratio says nothing.
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

    /// What came out was not what went in.
    private struct Unequal: Error {}
}
