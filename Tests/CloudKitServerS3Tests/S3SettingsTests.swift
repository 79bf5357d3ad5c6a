#if S3
import CloudKitServerS3
import Foundation
import Testing

@Suite("Settings of an S3 storage")
struct S3SettingsTests {
    static let variables = [
        "AWS_ACCESS_KEY_ID": "KEY1", "AWS_SECRET_ACCESS_KEY": "SECRET1",
        "AWS_REGION": "eu-central-1",
    ]

    @Test("The address names a bucket and a prefix")
    func address() throws {
        for (text, bucket, prefix) in [
            ("s3://my-bucket", "my-bucket", ""), ("s3://my-bucket/", "my-bucket", ""),
            ("s3://a.b-1/assets", "a.b-1", "assets"),
            ("s3://a.b-1/x/Größe+1/", "a.b-1", "x/Größe+1"),
        ] {
            let settings = try S3Settings(address: text, variables: Self.variables)
            #expect(settings.bucket == bucket)
            #expect(settings.prefix == prefix)
        }
        let settings = try S3Settings(address: "s3://my-bucket/a/", variables: Self.variables)
        #expect(settings.location == "s3://my-bucket/a")
    }

    @Test(
        "Another address is refused",
        arguments: [
            "", "s3:", "s3://", "s3://ab", "s3:///x", "s3://My-Bucket", "s3://a_b_c", "s3://-abc",
            "s3://abc-",
            "s3://a..b", "s3://.abc", "https://bucket/x", "s3://bucket//x", "s3://bucket/x//y",
            "s3://bucket/../x",
            "s3://bucket/./x", "s3://bucket/x?y", "s3://bucket/x#y", "s3://bucket/x y",
            "s3://bucket/x\ny",
            "s3://bucket/" + String(repeating: "x", count: 513), "s3://user@bucket/x",
            "s3://bucket:9000/x",
        ]
    )
    func refusedAddress(text: String) {
        #expect(throws: S3SettingsError.self) {
            try S3Settings(address: text, variables: Self.variables)
        }
    }

    @Test("Each missing variable is named", arguments: variables.keys.sorted())
    func missing(name: String) {
        for value in [nil, ""] {
            var variables = Self.variables
            variables[name] = value
            let error = #expect(throws: S3SettingsError.self) {
                try S3Settings(address: "s3://my-bucket", variables: variables)
            }
            #expect(error?.description.hasPrefix("\(name) is missing in the environment") == true)
        }
    }

    @Test("A variable with a line break is refused, and its value not repeated")
    func injection() {
        for name in [
            "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
        ] {
            let variables = Self.variables.merging([name: "hidden\r\nx: y"]) { $1 }
            let error = #expect(throws: S3SettingsError.self) {
                try S3Settings(address: "s3://my-bucket", variables: variables)
            }
            #expect(error?.description.contains(name) == true)
            #expect(error?.description.contains("hidden") == false)
        }
    }

    @Test("Other names of the region and of the server are read too, after the usual ones")
    func names() throws {
        var variables = Self.variables
        variables["AWS_REGION"] = nil
        variables["AWS_DEFAULT_REGION"] = "us-east-1"
        variables["AWS_ENDPOINT_URL"] = "http://one.example"
        var settings = try S3Settings(address: "s3://my-bucket", variables: variables)
        #expect(settings.region == "us-east-1")
        #expect(settings.endpoint.authority == "one.example")
        variables["AWS_ENDPOINT_URL_S3"] = "http://two.example:9000/"
        settings = try S3Settings(address: "s3://my-bucket", variables: variables)
        #expect(settings.endpoint.authority == "two.example:9000")
    }

    @Test(
        "A server is a scheme, a host and a port",
        arguments: [
            ("https://h.example:443", "https", "h.example"),
            ("http://H.example:80/", "http", "h.example"),
            ("https://h.example:80", "https", "h.example:80"),
            ("http://[::1]:9000", "http", "[::1]:9000"),
        ]
    )
    func server(text: String, scheme: String, authority: String) throws {
        let variables = Self.variables.merging(["AWS_ENDPOINT_URL_S3": text]) { $1 }
        let settings = try S3Settings(address: "s3://my-bucket", variables: variables)
        #expect(settings.endpoint.scheme == scheme)
        #expect(settings.endpoint.authority == authority)
    }

    @Test(
        "Another URL of a server is refused",
        arguments: [
            "h.example", "ftp://h.example", "https://h.example/path",
            "https://user:secret@h.example",
            "https://h.example?x", "https://", "https://h.example/#x",
        ]
    )
    func refusedServer(text: String) {
        let variables = Self.variables.merging(["AWS_ENDPOINT_URL_S3": text]) { $1 }
        let error = #expect(throws: S3SettingsError.self) {
            try S3Settings(address: "s3://my-bucket", variables: variables)
        }
        #expect(error?.description.contains("secret") == false)
    }

    @Test(
        "Amazon's servers have the bucket in their name, others in the path, unless one says otherwise"
    )
    func addressing() throws {
        func settings(
            _ address: String,
            _ addressing: S3Settings.Addressing = .automatic,
            own: Bool = false
        ) throws -> S3Settings {
            let server = own ? ["AWS_ENDPOINT_URL_S3": "http://h.example"] : [:]
            return try S3Settings(
                address: address,
                variables: Self.variables.merging(server) { $1 },
                addressing: addressing
            )
        }
        #expect(try !settings("s3://my-bucket").isPathStyle)
        #expect(try settings("s3://my.bucket").isPathStyle)
        #expect(try settings("s3://my-bucket", own: true).isPathStyle)
        #expect(try !settings("s3://my-bucket", .host, own: true).isPathStyle)
        #expect(try settings("s3://my-bucket", .path).isPathStyle)
        #expect(
            try settings("s3://my-bucket").endpoint.authority == "s3.eu-central-1.amazonaws.com"
        )
    }
}
#endif
