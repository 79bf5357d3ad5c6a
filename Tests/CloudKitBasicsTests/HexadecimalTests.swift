import CloudKitBasics
import Testing

@Suite("Hexadecimal")
struct HexadecimalTests {
    private static let everyByte = [UInt8](0...255)

    @Test("Every byte has two digits, in either case")
    func digits() {
        let text = Hexadecimal.text(Self.everyByte)
        #expect(text.count == 512)
        #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
        #expect(text.hasSuffix("fafbfcfdfeff"))
        #expect(Hexadecimal.text(Self.everyByte, uppercase: true) == text.uppercased())
        for byte in Self.everyByte {
            let (high, low) = Hexadecimal.digits(of: byte)
            #expect(String(decoding: [high, low], as: UTF8.self) == Hexadecimal.text([byte]))
        }
    }

    @Test("Digits in either case are read back")
    func reading() {
        let text = Hexadecimal.text(Self.everyByte)
        #expect(Hexadecimal.bytes(text) == Self.everyByte)
        #expect(Hexadecimal.bytes(text.uppercased()) == Self.everyByte)
        #expect(Hexadecimal.bytes("") == [])
    }

    @Test(
        "Text that is no whole number of bytes is none",
        arguments: ["0", "abc", "0g", "+1", " 1", "é"]
    )
    func refusals(text: String) {
        #expect(Hexadecimal.bytes(text) == nil)
    }
}
