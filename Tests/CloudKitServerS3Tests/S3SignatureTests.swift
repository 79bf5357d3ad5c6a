#if S3
import CloudKitServerS3
import Foundation
import Testing

@Suite("Signatures of requests to S3")
struct S3SignatureTests {
    /// A request that another program signed; `Fixtures/signatures.py` writes it.
    struct Case: Decodable, CustomTestStringConvertible {
        var name: String
        var method: String
        var host: String
        var path: String
        var query: [[String]]
        var headers: [[String]]
        var token: String?
        var region: String
        var date: String
        var key: String
        var secret: String
        var payload: String?
        var authorization: String?
        var seconds: Int64?
        var signature: String?

        var testDescription: String { name }

        var subject: S3Signature.Subject {
            S3Signature.Subject(
                method: method,
                host: host,
                path: S3Encoding.path(path),
                query: query.map { ($0[0], $0[1]) },
                headers: headers.map { ($0[0], $0[1]) },
                payload: payload ?? S3Signature.unsignedPayload
            )
        }

        var signer: S3Signature {
            S3Signature(
                credentials: S3Credentials(
                    accessKeyID: key,
                    secretAccessKey: secret,
                    sessionToken: token
                ),
                region: region
            )
        }
    }

    static let cases: [Case] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/signatures.json")
        // Without the file there are no cases, which a test below notices.
        let data = (try? Data(contentsOf: file)) ?? Data()
        return (try? JSONDecoder().decode([Case].self, from: data)) ?? []
    }()

    @Test("There are cases of both forms")
    func count() {
        #expect(Self.cases.count { $0.authorization != nil } >= 10)
        #expect(Self.cases.count { $0.signature != nil } >= 3)
    }

    @Test(
        "A signed request is that of another program",
        arguments: cases.filter { $0.authorization != nil }
    )
    func headers(_ known: Case) {
        let headers = known.signer.headers(of: known.subject, date: known.date)
        #expect(headers.first { $0.name == "authorization" }?.value == known.authorization)
        #expect(headers.first { $0.name == "x-amz-security-token" }?.value == known.token)
        #expect(headers.first { $0.name == "host" }?.value == known.host)
    }

    @Test(
        "A signed URL is that of another program",
        arguments: cases.filter { $0.signature != nil }
    )
    func addresses(_ known: Case) throws {
        let query = known.signer.presignedQuery(
            of: known.subject,
            date: known.date,
            seconds: try #require(known.seconds)
        )
        #expect(query.hasSuffix("&X-Amz-Signature=\(try #require(known.signature))"))
        #expect(!query.contains(known.secret))
    }

    @Test("A signer signs requests of several days with the key of each")
    func days() throws {
        let first = try #require(Self.cases.first { $0.authorization != nil })
        let signer = first.signer
        let early = signer.headers(of: first.subject, date: "20260130T235959Z")
        #expect(early.first { $0.name == "authorization" }?.value != first.authorization)
        let again = signer.headers(of: first.subject, date: first.date)
        #expect(again.first { $0.name == "authorization" }?.value == first.authorization)
    }

    @Test("A URL can be used for a week at most, and for a second at least")
    func times() throws {
        let known = try #require(Self.cases.first { $0.signature != nil })
        func text(_ seconds: Int64) -> String {
            known.signer.presignedQuery(of: known.subject, date: known.date, seconds: seconds)
        }
        #expect(text(.max).contains("X-Amz-Expires=604800&"))
        #expect(text(-5).contains("X-Amz-Expires=1&"))
    }

    @Test("No description has a secret")
    func descriptions() {
        let credentials = S3Credentials(
            accessKeyID: "KEY1",
            secretAccessKey: "SECRET1",
            sessionToken: "TOKEN1"
        )
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"]
        {
            #expect(!text.contains("SECRET1") && !text.contains("TOKEN1"))
        }
    }
}
#endif
