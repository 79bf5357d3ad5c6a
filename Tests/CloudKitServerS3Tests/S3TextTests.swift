#if S3
import CloudKitServerS3
import Foundation
import Testing

@Suite("Texts of S3")
struct S3TextTests {
    private func xml(_ text: String) -> S3XML? { S3XML(Array(text.utf8)) }

    @Test("A list is read with its entities, namespaces, comments and attributes")
    func document() throws {
        let list = try #require(
            xml(
                """
                \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
                <!-- > < & -->
                <s3:List xmlns:s3="http://x/?a>b" b='">'><Key a="1">a&amp;b&#x20;&#32;&lt;</Key >
                <Key><![CDATA[<b>&amp;]]>&quot;</Key><Empty/><Empty a="/" />
                </s3:List>
                <!-- end -->
                """
            )
        )
        #expect(list.name == "List")
        #expect(list.all("Key").map(\.text) == ["a&b  <", "<b>&amp;\""])
        #expect(list.all("Empty").count == 2)
        #expect(list["Empty"]?.text == "")
        #expect(list["None"] == nil)
    }

    @Test(
        "What is not well-formed, or may become large, is refused",
        arguments: [
            "", " ", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>text", "text<a/>", "<a",
            "<a b='>",
            "<a>&", "<a>&;</a>", "<a>&none;</a>", "<a>&#xD800;</a>", "<a>&#0;</a>", "<a>&#-1;</a>",
            "<a>&#x110000;</a>", "<a>&#99999999999;</a>", "<a>&amp</a>", "<!DOCTYPE a><a/>", "<>",
            "< a/>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a><!ENTITY b 'c'></a>", "<a><!-- </a>",
            "<![CDATA[x]]><a/>", "<a><![CDATA[x</a>", "<?xml <a/>", "<a><b></a></b>", "<a\u{0}/>",
        ]
    )
    func refusals(text: String) {
        #expect(xml(text) == nil)
    }

    @Test("Bytes that are not UTF-8 are refused wherever they are")
    func encoding() {
        for place in ["<a>?</a>", "<?/>", "<a><![CDATA[?]]></a>"] {
            let bytes = place.utf8.map { $0 == UInt8(ascii: "?") ? 0xFF : $0 }
            #expect(S3XML(bytes) == nil)
        }
    }

    @Test("Depth and size have limits")
    func limits() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(xml(nested(16)) != nil)
        #expect(xml(nested(17)) == nil)
        #expect(xml(nested(100_000)) == nil)
        let long = String(repeating: "x", count: S3XML.maxBytes)
        #expect(xml("<a>\(long)</a>") == nil)
        let many = String(repeating: "<k>1</k>", count: 100_000)
        #expect(xml("<a>\(many)</a>")?.children.count == 100_000)
    }

    @Test("Text is escaped so that it is read back")
    func escaping() {
        let text = "\"<a>&amp;'\""
        #expect(xml("<a>\(S3XML.escaped(text))</a>")?.text == text)
    }

    @Test("Keys are encoded byte by byte, and slashes stay in a path")
    func keys() {
        #expect(S3Encoding.path("a b/ö+~-_.!*'()") == "a%20b/%C3%B6%2B~-_.%21%2A%27%28%29")
        #expect(S3Encoding.query("a/b=c&d") == "a%2Fb%3Dc%26d")
        #expect(
            S3Encoding.query([("b", "1"), ("a", "2"), ("a", "1"), ("A", "")]) == "A=&a=1&a=2&b=1"
        )
        for text in ["", "a b/ö+~%25", "\u{1}\n"] {
            #expect(S3Encoding.decoded(S3Encoding.query(text)) == text)
        }
        #expect(S3Encoding.decoded("a+b") == "a b")
        for text in ["%", "%1", "%zz", "%+1", "%-1", "%FF"] {
            #expect(S3Encoding.decoded(text) == nil, "\(text)")
        }
    }

    @Test("Times are written and read in the three forms of S3")
    func times() {
        #expect(S3Date.text(0) == "19700101T000000Z")
        #expect(S3Date.text(1_769_862_896_999) == "20260131T123456Z")
        #expect(S3Date.milliseconds(iso: "2026-01-31T12:34:56.000Z") == 1_769_862_896_000)
        #expect(S3Date.milliseconds(iso: "2026-01-31T12:34:56Z") == 1_769_862_896_000)
        #expect(
            S3Date.milliseconds(header: "Sat, 31 Jan 2026 12:34:56 GMT") == 1_769_862_896_000
        )
        for text in [
            "", "2026-01-31", "2026-13-31T12:34:56Z", "x-01-31T12:34:56Z", "2026-01-31T25:00:00Z",
        ] {
            #expect(S3Date.milliseconds(iso: text) == nil, "\(text)")
        }
        for text in [
            "", "Sat, 31 Jan 2026 12:34 GMT", "Sat, 31 Foo 2026 12:34:56 GMT", "1 2 3 4 5 GMT",
        ] {
            #expect(S3Date.milliseconds(header: text) == nil, "\(text)")
        }
    }
}
#endif
