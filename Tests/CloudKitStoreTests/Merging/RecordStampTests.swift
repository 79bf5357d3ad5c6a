import CloudKitStore
import Support
import Testing

@Suite("The stamp by which a record's edits are known")
struct RecordStampTests {
    private static func time(_ microseconds: Int64, _ device: String) -> EditTime {
        EditTime(microseconds: microseconds, device: device)
    }

    @Test("It is read as it was written, and written as it was read")
    func roundTrip() {
        var stamp = RecordStamp()
        stamp.save(100, by: "phone")
        for field in ["title", "body", "color"] { stamp.edit(field, at: Self.time(36, "phone")) }
        stamp.save(200, by: "laptop")
        stamp.edit("body", at: Self.time(72, "laptop"))
        #expect(stamp.text == "laptop=5k,phone=2s;1.10=color,title;0.20=body")
        let read = RecordStamp(stamp.text)
        #expect(read == stamp)
        #expect(read.text == stamp.text)
        #expect((read.version(of: "phone"), read.version(of: "laptop")) == (100, 200))
        #expect(read.version(of: "watch") == nil)
        #expect(
            read.times == [
                "title": Self.time(36, "phone"), "color": Self.time(36, "phone"),
                "body": Self.time(72, "laptop"),
            ]
        )
    }

    @Test("A device's next version takes the place of the one before")
    func nextVersion() {
        var stamp = RecordStamp("phone=2s;0.10=title")
        stamp.save(101, by: "phone")
        stamp.edit("title", at: Self.time(72, "phone"))
        #expect(stamp.text == "phone=2t;0.20=title")
    }

    @Test("An edit of a version comes after it, whatever the clocks say")
    func laterThanBefore() {
        var stamp = RecordStamp("phone=2s;0.10=body,title")
        stamp.save(1, by: "laptop")
        stamp.edit("title", at: Self.time(5, "laptop"))
        #expect(stamp.times["title"] == Self.time(37, "laptop"))
        #expect(stamp.times["body"] == Self.time(36, "phone"))
    }

    @Test(
        "What cannot be read counts as never edited, and the rest is read",
        arguments: [
            "", ";", ",", "=", "phone", ";0.10=title", "phone=2s;1.10=title",
            "phone=2s;-1.10=title",
            "phone=2s;0.=title", "phone=2s;.10=title", "phone=2s;0=title", "phone=2s;0.1!=title",
            "phone=2s;zzzzzzzzzzzzzzzz.10=title", "phone=2s;0.zzzzzzzzzzzzzzzz=title",
        ]
    )
    func broken(_ text: String) {
        #expect(RecordStamp(text).times["title"] == nil)
        var stamp = RecordStamp(text + ";0.10=kept")
        if text.hasPrefix("phone=") { #expect(stamp.times["kept"] == Self.time(36, "phone")) }
        stamp.save(1, by: "laptop")
        stamp.edit("title", at: Self.time(.max, "laptop"))
        #expect(RecordStamp(stamp.text).times["title"] == Self.time(.max, "laptop"))
    }

    @Test("A time at the end of all numbers is edited over without an overflow")
    func lastTime() {
        var stamp = RecordStamp("phone=2s;0.\(String(Int64.max, radix: 36))=title")
        stamp.save(1, by: "laptop")
        stamp.edit("title", at: Self.time(5, "laptop"))
        #expect(stamp.times["title"]?.device == "laptop")
    }

    @Test("No text ends the process, and what is read of it is written and read alike")
    func anyText() {
        var chance = SeededRandom(seed: 7)
        let signs = Array("ab09=,;.-+ é\u{0}")
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...40, using: &chance)
            let text = String((0..<count).map { _ in signs.randomElement(using: &chance) ?? "a" })
            let stamp = RecordStamp(text)
            #expect(RecordStamp(stamp.text).times == stamp.times, "\(text)")
        }
    }
}
