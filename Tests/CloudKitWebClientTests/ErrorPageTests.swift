import CloudKit
import CloudKitWebClient
import CloudKitWire
import Foundation
import Testing

@Suite("docs/reference/errors.md: what the service and the framework say")
struct ErrorPageTests {
    /// The cells of the tables below a heading, without backticks.
    private func cells(below heading: String) throws -> [[String]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/reference/errors.md"),
            encoding: .utf8
        )
        let lines = page.split(separator: "\n")
        let start = try #require(lines.firstIndex { $0 == heading }, "there is no \(heading)")
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        // The first cell of a row is a code; that of a table's head is not.
        return section.filter { $0.hasPrefix("| `") }.map { line in
            line.split(separator: "|").map { cell in
                cell.replacing("`", with: "").trimmingCharacters(in: .whitespaces)
            }
        }
    }

    @Test("Each code of the service stands there with its status and the CKError that it becomes")
    func codesOfService() throws {
        // Those of the table below it have no status.
        let rows = try cells(below: "## Codes of the service").filter { $0.count == 5 }
        for code in ServerErrorCode.known {
            let row = try #require(rows.first { $0[0] == code.rawValue }, "\(code.rawValue)")
            #expect(row[1] == String(code.httpStatus), "\(code.rawValue)")
            let refusal = RequestError(code, reason: nil)
            let error = CKError.make(.refused(refusal, status: code.httpStatus))
            #expect(row[2] == "\(error.code)", "\(code.rawValue)")
        }
        // The words at the head of the table are in backticks too.
        let codes = Set(rows.map { $0[0] }).subtracting(["serverErrorCode"])
        #expect(codes == Set(ServerErrorCode.known.map(\.rawValue)))
    }

    @Test("Each code of CKError stands there under its number")
    func codesOfFramework() throws {
        let rows = try cells(below: "## `CKError`")
        let codes = NativeErrorCode.allCases
        #expect(rows.map { $0[0] } == codes.map(\.name))
        #expect(rows.map { $0[1] } == codes.map { String($0.rawValue) })
        for code in codes { #expect(CKError.Code(rawValue: code.rawValue) != nil) }
    }

    @Test("Each code of a transport becomes the CKError that stands beside it")
    func codesOfTransport() throws {
        let rows = try cells(below: "## No response: `TransportError`")
        #expect(rows.count > 10)
        for row in rows {
            let failure = TransportError(TransportError.Code(rawValue: row[0]), message: "")
            #expect("\(CKError.make(.transport(failure)).code)" == row[1], "\(row[0])")
        }
    }
}
